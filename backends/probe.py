"""One arm on one cell, step by step: right eagerly, captured, right again, a quick time, what really ran."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from statistics import median

from backends.arm import Arm
from backends.cell import Cell, attention_flops, kv_bytes
from backends.checks.tolerance import Errors
from backends.driver import Driver
from backends.dtypes import element_bytes
from backends.measured import Cost, Identity, Soundness, Trial
from backends.memory import Growth, total
from backends.outcome import Outcome
from backends.phases import Phases
from backends.seat import Seat
from backends.spec import TimingSpec
from backends.stand import Stand
from backends.timing.metadata import metadata_us
from backends.timing.ways import headline_us, labels

QUICK_VISITS = 2  # the first warms up


@dataclass(frozen=True)
class OpenArm:
    """An arm whose driver is open. ``grown`` counts device memory since before it was, ``open_s`` is how long opening took,
    imports apart."""

    arm: Arm
    stand: Stand
    driver: Driver
    timing: TimingSpec
    phases: Phases
    grown: Growth
    open_s: float

    def kept_bytes(self) -> int | None:
        """Device memory that the backend keeps between calls, without what every server has; None on a CPU."""
        return total(self.grown.bytes, -(getattr(self.driver, "server_bytes", None) or 0))


@dataclass(frozen=True)
class _Findings:
    errors: Errors
    needle_error: float
    coverage: str | None
    cost: Cost
    identity: Identity
    soundness: Soundness | None
    labels: tuple[str, ...]


def probe(opened: OpenArm, cell: Cell, opening_s: float) -> Trial:
    """A measured trial; ``opening_s`` counts as building. Raises what goes wrong, `Incorrect` and `Implausible` among it."""
    arm, stand, phases, bench = opened.arm, opened.stand, opened.phases, opened.stand.bench
    captured_s = phases.spent("capture")
    bench.release()  # of what the cell before left behind
    bench.restart_peak()
    kept_bytes = opened.kept_bytes()
    with bench.working():
        data = stand.lay_out(cell, arm)
        with closing(Seat(arm, opened.driver, data, stand.slots(cell, arm), phases, bench)) as seat:
            found = _examine(opened, seat)
    return Trial(
        arm=arm.name,
        cell=cell.name,
        outcome=Outcome.MEASURED,
        detail="; ".join(filter(None, (found.coverage, *getattr(opened.driver, "warnings", ())))) or None,
        identity=found.identity,
        cost=found.cost,
        relative_error=found.errors.largest,
        needle_error=found.needle_error,
        bandwidth_bytes_per_s=kv_bytes(cell, element_bytes(arm.kv_dtype)) / found.cost.device_us * 1e6,
        flops_per_s=attention_flops(cell) / found.cost.device_us * 1e6,
        slots=seat.slots,
        pool_tokens=data.pool.pool_tokens,
        peak_memory_bytes=bench.peak_bytes(),
        build_s=opening_s + seat.first_call_s,
        capture_s=phases.spent("capture") - captured_s,
        rms_error=found.errors.rms,
        workspace_bytes=total(kept_bytes, seat.call_bytes),
        graph_bytes=seat.timed.memory.taken_bytes if seat.timed.memory else None,
        open_s=opened.open_s,
        first_call_s=seat.first_call_s,
        soundness=found.soundness,
        autotuned=bench.autotuned(),
        labels=found.labels,
    )


def _examine(opened: OpenArm, seat: Seat) -> _Findings:
    arm, cell, phases, bench = opened.arm.name, seat.data.cell, opened.phases, opened.stand.bench
    checker = bench.checker(seat.data, seat.slots - 1, opened.stand.stage.model.logit_softcap)
    with phases.of("check", arm, cell.name, "eager"):
        errors = checker.check(seat.eager_shot, [seat.slots - 1])
        needle_error = checker.check_needles(seat.eager_shot)
    timed = seat.capture(opened.timing)
    if timed.mode == "graph":
        with phases.of("check", arm, cell.name, "graph"):
            errors = errors.or_worse(checker.check(timed.shot, timed.written))
            needle_error = max(needle_error, checker.check_needles(timed.shot))
    device_us = _time(opened, seat)
    with phases.of("timing", arm, cell.name, "other ways"):
        served_us = timed.served_us()
        soundness = bench.soundness(seat.call, timed, seat.data.pool.slots, opened.timing)
    with phases.of("metadata", arm, cell.name):
        host_us, idle_us = metadata_us(seat.call, bench)
    with phases.of("check", arm, cell.name, "afterwards"):
        errors = errors.or_worse(checker.check(timed.shot, timed.written))
        needle_error = max(needle_error, checker.check_needles(timed.shot))
        identity = bench.identify(seat.call, timed)
    cost = Cost(headline_us(soundness, device_us), served_us, host_us, idle_us)
    return _Findings(errors, needle_error, checker.coverage(), cost, identity, soundness, labels(soundness, device_us))


def _time(opened: OpenArm, seat: Seat) -> float:
    """A quick time, to see how slow the arm is; what it is compared by comes from rounds. Raises `Implausible`."""
    with opened.phases.of("timing", opened.arm.name, seat.data.cell.name):
        samples = [seat.timed.visit().us for _ in range(QUICK_VISITS)][-1]
    opened.stand.require_plausible(seat.data.cell, opened.arm, samples)
    return median(samples)
