"""What may befall the device while arms are timed: heat, a power brake, somebody else who starts to use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

# nvmlClocksEventReason* in nvml.h of CUDA 13.0
SLOWDOWNS = {
    0x08: "hardware slowdown",
    0x20: "thermal slowdown by the driver",
    0x40: "thermal slowdown by the hardware",
    0x80: "power brake",
}
POWER_CAP = 0x04  # heavy kernels at stock limits: normal, and served the same way
OTHERS_BYTES = 512 << 20  # about one CUDA context on an H200; kernels that our arms load late took 10 MiB there
MIB = 1 << 20


class Disturbed(Exception):
    """The device was not ours alone or not at its usual pace: nothing timed in this process counts, and no arm is to blame."""


@dataclass(frozen=True)
class Reading:
    """``reasons`` = NVML's mask of what holds the clocks down. ``unreserved_bytes`` = device memory in use, less what torch
    reserved in this process. None = the driver does not tell."""

    reasons: int | None
    unreserved_bytes: int
    temperature_c: int | None = None
    power_w: float | None = None
    sm_clock_mhz: int | None = None


def disturbance(first: Reading, now: Reading) -> str | None:
    """Why what was timed up to ``now`` is invalid; ``first`` was taken when the process stood on the device, before its arms."""
    slowdowns = [name for bit, name in SLOWDOWNS.items() if (now.reasons or 0) & bit]
    if slowdowns:
        return f"measurement invalid: {', '.join(slowdowns)}{_state(now)}"
    grown = now.unreserved_bytes - first.unreserved_bytes
    if grown > OTHERS_BYTES:
        return f"measurement invalid: somebody else started to use the GPU, {grown // MIB} MiB more are taken than this process reserved"
    return None


def _state(now: Reading) -> str:
    known = ((now.temperature_c, "C"), (now.power_w, "W"), (now.sm_clock_mhz, "MHz SM clock"))
    told = [f"{value:.0f} {unit}" for value, unit in known if value is not None]
    return f" ({', '.join(told)})" if told else ""


def cautions(readings: Iterable[Reading]) -> tuple[str, ...]:
    """Labels of a round that was read so."""
    masks = {reading.reasons for reading in readings}
    capped = any(mask is not None and mask & POWER_CAP for mask in masks)
    return (*(("power capped",) if capped else ()), *(("guard not verifiable",) if None in masks else ()))


class Lookout:
    """Reads the device now and at every `look`; never during a visit. ``read`` gives None where there is nothing to read."""

    def __init__(self, read: Callable[[], Reading | None]) -> None:
        self._read = read
        self._readings = [reading for reading in (read(),) if reading is not None]

    def look(self) -> None:
        """Raises `Disturbed`."""
        now = self._read()
        if now is None:
            return
        self._readings.append(now)
        if (found := disturbance(self._readings[0], now)) is not None:
            raise Disturbed(found)

    def labels(self) -> tuple[str, ...]:
        """Of the looks: what held the clocks before the first is no arm's doing."""
        return cautions(self._readings[1:])


def lookout_over(device: torch.device) -> Lookout:
    """Over a GPU that torch has opened; over a CPU there is nothing to see."""
    if device.type == "cpu":
        return Lookout(lambda: None)
    import torch

    from backends.worker.board import first_gpu

    gpu = first_gpu()

    def read() -> Reading:
        free, total = torch.cuda.mem_get_info(device)
        unreserved = total - free - torch.cuda.memory_reserved(device)
        if gpu is None:
            return Reading(None, unreserved)
        return Reading(gpu.clock_event_reasons(), unreserved, gpu.temperature_c(), gpu.power_w(), gpu.sm_clock_mhz())

    return Lookout(read)
