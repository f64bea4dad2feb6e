"""One arm on one cell, step by step: right eagerly, captured, right again, a quick time, what really ran."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from statistics import median

from backends.arm import Arm
from backends.cell import Cell, attention_flops, kv_bytes
from backends.checks.checker import Checker
from backends.checks.tolerance import Errors
from backends.device import peak_bytes, release, restart_peak
from backends.driver import Driver
from backends.measured import Cost, Identity, Trial
from backends.memory import Growth, total
from backends.outcome import Outcome
from backends.phases import Phases
from backends.seat import Seat
from backends.spec import TimingSpec
from backends.stand import Stand
from backends.timing.identity import identify
from backends.timing.metadata import metadata_us

QUICK_VISITS = 2  # the first warms up


@dataclass(frozen=True)
class Bench:
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


def probe(bench: Bench, cell: Cell, opening_s: float) -> Trial:
    """A measured trial; ``opening_s`` counts as building. Raises what goes wrong, `Incorrect` and `Implausible` among it."""
    import torch

    arm, stand, phases = bench.arm, bench.stand, bench.phases
    device, captured_s = stand.stage.device, phases.spent("capture")
    release(device)  # of what the cell before left behind
    restart_peak(device)
    kept_bytes = bench.kept_bytes()
    with torch.no_grad():
        data = stand.lay_out(cell, arm)
        with closing(Seat(arm, bench.driver, data, stand.slots(cell, arm), phases)) as seat:
            found = _examine(bench, seat)
    return Trial(
        arm=arm.name,
        cell=cell.name,
        outcome=Outcome.MEASURED,
        detail="; ".join(filter(None, (found.coverage, *getattr(bench.driver, "warnings", ())))) or None,
        identity=found.identity,
        cost=found.cost,
        relative_error=found.errors.largest,
        needle_error=found.needle_error,
        bandwidth_bytes_per_s=kv_bytes(cell, data.pool.k[0].element_size()) / found.cost.device_us * 1e6,
        flops_per_s=attention_flops(cell) / found.cost.device_us * 1e6,
        slots=seat.slots,
        pool_tokens=data.pool.pool_tokens,
        peak_memory_bytes=peak_bytes(device),
        build_s=opening_s + seat.first_call_s,
        capture_s=phases.spent("capture") - captured_s,
        rms_error=found.errors.rms,
        workspace_bytes=total(kept_bytes, seat.call_bytes),
        graph_bytes=seat.timed.memory.taken_bytes if seat.timed.memory else None,
        open_s=bench.open_s,
        first_call_s=seat.first_call_s,
    )


def _examine(bench: Bench, seat: Seat) -> _Findings:
    arm, cell, phases = bench.arm.name, seat.data.cell, bench.phases
    checker = Checker(seat.data, seat.slots - 1, bench.stand.stage.model.logit_softcap)
    with phases.of("check", arm, cell.name, "eager"):
        errors = checker.check(seat.eager_shot, [seat.slots - 1])
        needle_error = checker.check_needles(seat.eager_shot)
    timed = seat.capture(bench.timing)
    if timed.mode == "graph":
        with phases.of("check", arm, cell.name, "graph"):
            errors = errors.or_worse(checker.check(timed.shot, timed.written))
            needle_error = max(needle_error, checker.check_needles(timed.shot))
    cost = _time(bench, seat)
    with phases.of("check", arm, cell.name, "kernel names"):
        identity = identify(seat.call, timed, bench.stand.stage.device)
    return _Findings(errors, needle_error, checker.coverage(), cost, identity)


def _time(bench: Bench, seat: Seat) -> Cost:
    """A quick time, to see how slow the arm is; what it is compared by comes from rounds. Raises `Implausible`."""
    arm, cell, phases = bench.arm.name, seat.data.cell, bench.phases
    with phases.of("timing", arm, cell.name):
        samples = [seat.timed.visit() for _ in range(QUICK_VISITS)][-1]
        served_us = seat.timed.served_us()
    bench.stand.require_plausible(cell, bench.arm, samples)
    with phases.of("metadata", arm, cell.name):
        host_us, idle_us = metadata_us(seat.call, bench.stand.stage.device)
    return Cost(median(samples), served_us, host_us, idle_us)
