"""One arm alone in its process, on every cell: does it load, is it right, how slow is it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.arm import Arm
from backends.cell import Cell
from backends.device import is_lost, release, synchronize
from backends.imports import ImportClock
from backends.invalid import failure_of
from backends.measured import Trial
from backends.memory import Growth, held
from backends.phases import Phases, Say
from backends.probe import Bench, probe
from backends.spec import StageSpec, TimingSpec
from backends.stand import open_stand

SEED = 0


def run(arm: Arm, cells: Sequence[Cell], stage: StageSpec, timing: TimingSpec, say: Say) -> Iterator[Trial]:
    """A trial of every cell, in order; a failure of one leaves the others be. ``build_s`` of the first holds the import too.

    When a kernel took the device's context with it, raises what it left behind after that cell's trial was given out.
    """
    phases = Phases(say)
    try:
        bench = _open(arm, cells, stage, timing, phases)
    except Exception as error:
        failure = failure_of(error)
        yield from [Trial(arm.name, cell.name, failure.outcome, failure.detail) for cell in cells]
        return
    opening_s = phases.spent("import", "build")
    for cell in cells:
        yield _attempt(bench, cell, opening_s)
        opening_s = 0.0
        synchronize(bench.stand.stage.device)


def _open(arm: Arm, cells: Sequence[Cell], stage: StageSpec, timing: TimingSpec, phases: Phases) -> Bench:
    with phases.of("import", arm.name):
        stand = open_stand(stage, [arm], cells, SEED)
    grown, spent_s = Growth(held(stand.stage.device)), phases.spent("import")
    with phases.of("import", arm.name), ImportClock() as imports:  # mostly importing the engine
        driver = stand.open_driver(arm)
    open_s = phases.spent("import") - spent_s - imports.seconds
    return Bench(arm, stand, driver, timing, phases, grown, open_s)


def _attempt(bench: Bench, cell: Cell, opening_s: float) -> Trial:
    try:
        return probe(bench, cell, opening_s)
    except Exception as error:
        failure = failure_of(error)
    if not is_lost(bench.stand.stage.device):
        release(bench.stand.stage.device)
    return Trial(bench.arm.name, cell.name, failure.outcome, failure.detail)
