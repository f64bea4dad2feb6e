"""One arm alone in its process, on every cell: does it load, is it right, how slow is it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from backends.ahead import import_ahead
from backends.arm import Arm
from backends.bench import Bench, bench_for
from backends.cell import Cell
from backends.company import await_others
from backends.imports import ImportClock
from backends.invalid import failure_of
from backends.measured import Trial
from backends.memory import Growth
from backends.outcome import Outcome
from backends.phases import Phases, Say
from backends.probe import OpenArm, probe
from backends.spec import StageSpec, TimingSpec
from backends.stand import open_stand
from backends.timing.disturbance import Disturbed

SEED = 0


def run(arm: Arm, cells: Sequence[Cell], stage: StageSpec, timing: TimingSpec, say: Say) -> Iterator[Trial]:
    """A trial of every cell, in order; a failure of one leaves the others be. ``build_s`` of the first holds the import too.

    When a kernel took the device's context with it, raises what it left behind after that cell's trial was given out. Raises
    `Disturbed` when the device was: the cells without a trial have to be probed again.
    """
    bench = bench_for(stage, SEED)
    phases = Phases(say, bench.now)
    with ExitStack() as stack:
        try:
            opened = _open(bench, arm, cells, stage, timing, phases, stack)
        except Exception as error:
            failure = failure_of(error)
            yield from [Trial(arm.name, cell.name, failure.outcome, failure.detail) for cell in cells]
            return
        opening_s = phases.spent("import", "open", "build")
        for cell in cells:
            yield _attempt(opened, cell, opening_s)
            opening_s = 0.0
            bench.synchronize()


def _open(bench: Bench, arm: Arm, cells: Sequence[Cell], stage: StageSpec, timing: TimingSpec, phases: Phases, stack: ExitStack) -> OpenArm:
    await_others(bench, phases, arm.name)
    with phases.of("import", arm.name):
        stand = open_stand(bench, stage, [arm], cells, SEED)
        lookout = bench.lookout()
        stack.callback(lookout.close)
        if stage.simulation is None:
            import_ahead([arm])  # mostly the engine
    grown = Growth(bench.held())
    with phases.of("open", arm.name), ImportClock(bench.now) as imports:
        driver = stand.open_driver(arm)
    with phases.of("import", arm.name):
        bench.keep()
    return OpenArm(arm, stand, driver, timing, phases, lookout, grown, phases.spent("open") - imports.seconds)


def _attempt(opened: OpenArm, cell: Cell, opening_s: float) -> Trial:
    try:
        return probe(opened, cell, opening_s)
    except Disturbed:
        raise
    except Exception as error:
        failure = failure_of(error)
    if failure.outcome is Outcome.OUT_OF_MEMORY:
        opened.lookout.look()  # raises `Disturbed` where somebody else took it
    if not _is_lost(opened.stand.bench):
        opened.stand.bench.release()
    return Trial(opened.arm.name, cell.name, failure.outcome, failure.detail)


def _is_lost(bench: Bench) -> bool:
    """Whether a faulty kernel took the device's context with it: then nothing more can be run in this process."""
    try:
        bench.synchronize()
    except RuntimeError:
        return True
    return False
