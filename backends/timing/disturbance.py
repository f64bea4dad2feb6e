"""What may befall the device while arms are timed: heat, a power brake, errors, somebody else who starts to use it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

# nvmlClocksEventReason* in nvml.h of CUDA 13.0
SLOWDOWNS = {
    0x08: "hardware slowdown",
    0x20: "thermal slowdown by the driver",
    0x40: "thermal slowdown by the hardware",
    0x80: "power brake",
}
IDLE = 0x01
POWER_CAP = 0x04  # heavy kernels at stock limits: normal, and served the same way
CAPPED = "power capped"  # the label of a process that it set the clock of
SET_CLOCKS = {0x02: "application clocks", 0x10: "sync boost", 0x100: "display clocks"}
OTHERS_BYTES = 512 << 20  # about one CUDA context on an H200; kernels that our arms load late took 10 MiB there
MIB = 1 << 20
STARVED = 2  # of the sentry's readings in a row: one alone may be of the moment before the visit


class Disturbed(Exception):
    """The device was not ours alone or not at its usual pace: nothing timed in this process counts, and no arm is to blame."""


class Gravity(str, Enum):
    """VOID: what was just timed is timed again. INVALID: nothing of this process counts."""

    VOID = "void"
    INVALID = "invalid"


@dataclass(frozen=True)
class Disturbance:
    gravity: Gravity
    sentence: str


@dataclass(frozen=True)
class Reading:
    """``reasons`` = NVML's mask of what holds the clocks down. ``unreserved_bytes`` = device memory in use, less what torch
    reserved in this process. ``processes`` with a context, by id. ``xids`` are the driver's error reports since the reading
    before. ECC errors count from when the driver was loaded. ``visiting``: a visit was under way. None = not told."""

    reasons: int | None = None
    unreserved_bytes: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    power_limit_w: float | None = None
    processes: tuple[int, ...] | None = None
    xids: tuple[int, ...] | None = None
    uncorrected_errors: int | None = None
    corrected_errors: int | None = None
    visiting: bool = False


def disturbance(first: Reading, readings: Sequence[Reading], watched: Sequence[Reading] = ()) -> Disturbance | None:
    """The gravest that ``readings``, in their order, show. ``first`` was taken when the process stood on the device, before its
    arms. ``watched``: those of the sentry alone, with the last ones before these: a row may reach over a look, since visits are
    shorter than his pause. Source of what voids and what invalidates: the measuring protocol, section 2.5."""
    foreign = next((sentence for reading in readings for sentence in _foreign(first, reading)), None)
    if foreign is not None:
        return Disturbance(Gravity.INVALID, foreign)
    slowed = next((sentence for reading in readings for sentence in _slowed(reading)), None)
    voided = slowed or _starved(watched)
    return None if voided is None else Disturbance(Gravity.VOID, voided)


def _foreign(first: Reading, now: Reading) -> Iterator[str]:
    """What cannot be waited out: other users, errors, other limits."""
    if first.unreserved_bytes is not None and now.unreserved_bytes is not None:
        grown = now.unreserved_bytes - first.unreserved_bytes
        if grown > OTHERS_BYTES:
            yield f"somebody else started to use the GPU, {grown // MIB} MiB more are taken than this process reserved"
    if first.processes is not None and now.processes is not None and (new := set(now.processes) - set(first.processes)):
        yield f"somebody else started to use the GPU: process {', '.join(map(str, sorted(new)))}"
    if now.xids:
        yield f"the driver reported Xid {', '.join(map(str, now.xids))}"
    if first.uncorrected_errors is not None and (now.uncorrected_errors or 0) > first.uncorrected_errors:
        yield f"uncorrected memory errors (ECC): {(now.uncorrected_errors or 0) - first.uncorrected_errors}"
    if first.power_limit_w is not None and now.power_limit_w is not None and now.power_limit_w != first.power_limit_w:
        yield f"the power limit was changed from {first.power_limit_w:.0f} W to {now.power_limit_w:.0f} W"


def _slowed(now: Reading) -> Iterator[str]:
    slowdowns = [name for bit, name in SLOWDOWNS.items() if (now.reasons or 0) & bit]
    if slowdowns:
        yield f"{', '.join(slowdowns)}{_state(now)}"


def _starved(readings: Sequence[Reading]) -> str | None:
    """The device idled while it was being timed: its queue ran empty."""
    idle = [reading.visiting and bool((reading.reasons or 0) & IDLE) for reading in readings]
    if any(all(idle[place : place + STARVED]) for place in range(len(idle) - STARVED + 1)):
        return "the GPU idled during a visit, its queue ran empty"
    return None


def _state(now: Reading) -> str:
    known = ((now.temperature_c, "C"), (now.power_w, "W"), (now.sm_clock_mhz, "MHz SM clock"))
    told = [f"{value:.0f} {unit}" for value, unit in known if value is not None]
    return f" ({', '.join(told)})" if told else ""


def cautions(first: Reading, readings: Iterable[Reading]) -> tuple[str, ...]:
    """Labels of a round that was read so; ``first`` as for `disturbance`."""
    seen = tuple(readings)
    masks = {reading.reasons for reading in seen}
    held = 0
    for mask in masks:
        held |= mask or 0
    return (
        *((CAPPED,) if held & POWER_CAP else ()),
        *(f"clocks held by {name}" for bit, name in SET_CLOCKS.items() if held & bit),
        *(("guard not verifiable",) if None in masks else ()),
        *(_unverifiable(first) if seen else ()),
        *_corrected(first, seen),
    )


def _unverifiable(first: Reading) -> Iterator[str]:
    """What the driver does not tell here, as in containers and MIG slices."""
    asked = {"processes": first.processes, "Xids": first.xids, "ECC": first.uncorrected_errors, "power limit": first.power_limit_w}
    if missing := [name for name, answer in asked.items() if answer is None]:
        yield f"not verifiable: {', '.join(missing)}"


def _corrected(first: Reading, seen: Sequence[Reading]) -> Iterator[str]:
    """Repaired by the hardware, as on any board that serves."""
    counts = [reading.corrected_errors for reading in seen if reading.corrected_errors is not None]
    if first.corrected_errors is not None and counts and (new := max(counts) - first.corrected_errors) > 0:
        yield f"corrected memory errors (ECC): {new}"
