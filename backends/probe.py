"""One arm on one cell, step by step: right eagerly, captured, right again, a quick time, what really ran."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.cell import Cell, attention_flops, kv_bytes
from backends.checks.tolerance import Errors
from backends.deviation import SHOWED, known_on
from backends.driver import Driver
from backends.dtypes import element_bytes
from backends.measured import Cost, Identity, Soundness, Trial
from backends.memory import Growth, total
from backends.outcome import Outcome
from backends.phases import Phases
from backends.quick_times import quick_times
from backends.seat import Seat
from backends.spec import TimingSpec
from backends.stand import Stand
from backends.timing.lookout import Lookout
from backends.timing.ways import TIMED_AGAIN, labels
from backends.without_graph import beside_eager, both_grids, eager_us, right_eagerly


@dataclass(frozen=True)
class OpenArm:
    """An arm whose driver is open. ``grown`` counts device memory since before it was, ``open_s`` is how long opening took,
    imports apart."""

    arm: Arm
    stand: Stand
    driver: Driver
    timing: TimingSpec
    phases: Phases
    lookout: Lookout
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

    def of(self, opened: OpenArm, cell: Cell) -> Trial:
        """What was found, without what it took."""
        arm, device_s = opened.arm, self.cost.device_us / 1e6
        return Trial(
            arm=arm.name,
            cell=cell.name,
            outcome=Outcome.MEASURED,
            detail="; ".join(filter(None, (self.coverage, *getattr(opened.driver, "warnings", ())))) or None,
            identity=self.identity,
            cost=self.cost,
            relative_error=self.errors.largest,
            rms_error=self.errors.rms,
            needle_error=self.needle_error,
            bandwidth_bytes_per_s=kv_bytes(cell, element_bytes(arm.kv_dtype)) / device_s,
            flops_per_s=attention_flops(cell) / device_s,
            soundness=self.soundness,
            labels=self.labels,
        )


def probe(opened: OpenArm, cell: Cell, opening_s: float) -> Trial:
    """A measured trial; ``opening_s`` counts as building. Raises what goes wrong, `Incorrect` and `Implausible` among it, and
    `Disturbed` where no arm is to blame."""
    arm, stand, phases, bench = opened.arm, opened.stand, opened.phases, opened.stand.bench
    captured_s = phases.spent("capture")
    bench.release()  # of what the cell before left behind
    bench.restart_peak()
    kept_bytes = opened.kept_bytes()
    with bench.working():
        data = stand.lay_out(cell, arm)
        with closing(Seat(arm, opened.driver, data, stand.slots(cell, arm), phases, bench)) as seat:
            found = _examine(opened, seat)
    return replace(
        found.of(opened, cell),
        slots=seat.slots,
        pool_tokens=data.pool.pool_tokens,
        peak_memory_bytes=bench.peak_bytes(),
        build_s=opening_s + seat.first_call_s,
        capture_s=phases.spent("capture") - captured_s,
        workspace_bytes=total(kept_bytes, seat.call_bytes),
        graph_bytes=seat.timed.memory.taken_bytes if seat.timed.memory else None,
        open_s=opened.open_s,
        first_call_s=seat.first_call_s,
        autotuned=bench.autotuned(),
    )


def _examine(opened: OpenArm, seat: Seat) -> _Findings:
    arm, cell, phases, bench = opened.arm.name, seat.data.cell, opened.phases, opened.stand.bench
    deviation = known_on(opened.arm.deviations, cell)
    checker = bench.checker(seat.data, seat.slots - 1, opened.stand.stage.model.logit_softcap, deviation)
    with phases.of("check", arm, cell.name, "eager"):
        errors = checker.check(seat.eager_shot, [seat.slots - 1])
        needle_error = checker.check_needles(seat.eager_shot)
    without_graph_us = eager_us(opened, seat)
    timed = seat.capture(opened.timing)
    if timed.mode == "graph":
        with phases.of("check", arm, cell.name, "graph"), right_eagerly():
            errors = errors.or_worse(checker.check(timed.shot, timed.written))
            needle_error = max(needle_error, checker.check_needles(timed.shot))
    times, voided = quick_times(opened, seat)
    with phases.of("check", arm, cell.name, "afterwards"):
        errors = errors.or_worse(checker.check(timed.shot, timed.written))
        needle_error = max(needle_error, checker.check_needles(timed.shot))
    with phases.of("identify", arm, cell.name):
        identity = bench.identify(seat.call, timed)
    soundness = beside_eager(times.soundness, times.device_us, without_graph_us)
    said = (
        *labels(soundness, times.device_us),
        *both_grids(opened, seat, identity, soundness),
        *(f"{TIMED_AGAIN}: {why}" for why in voided),
        *([f"{SHOWED}: {deviation.in_numbers(cell)}"] if deviation and checker.deviates else []),
    )
    return _Findings(errors, needle_error, checker.coverage(), times.cost, identity, soundness, said)
