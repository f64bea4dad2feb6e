"""One fresh process of a race: every arm on every cell, interleaved."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from backends.ahead import import_ahead
from backends.arm import Arm
from backends.bench import bench_for
from backends.blame import ArmFailed, blaming
from backends.cell import Cell
from backends.cell_round import CellRace
from backends.company import await_others
from backends.driver import Driver
from backends.measured import CellRound, Round
from backends.outcome import Outcome
from backends.phases import Phases, Say
from backends.spec import StageSpec, TimingSpec
from backends.stand import Stand, open_stand
from backends.timing.lookout import Lookout
from backends.timing.sampled import PLAIN, Manner
from backends.timing.warmup import for_process
from backends.turns import ALONE, Baton, Turns

__all__ = ["ArmFailed", "run"]


def run(
    index: int,
    seed: int,
    arms: Sequence[Arm],
    cells: Sequence[Cell],
    stage: StageSpec,
    timing: TimingSpec,
    say: Say,
    skip: Collection[tuple[str, str]] = (),
    spaced: Collection[str] = (),
    turns: Turns = ALONE,
    manner: Manner = PLAIN,
) -> Iterator[CellRound | Round]:
    """Each `CellRound` as it is done, in an order drawn from ``seed``, then the `Round` with all of them.

    ``skip`` holds (arm, cell) names that are not measured; a cell without arms is left out. On the cells named in ``spaced`` a
    small kernel stands between two recorded launches of every arm. With ``turns`` another process measures the same beside this one:
    the device is handed over once this one stands there, then before and after each half of a block. ``manner`` is that of every arm.
    Raises `ArmFailed` when an arm fails: the process has to be thrown away and the round repeated without that arm;
    `Disturbed` when the device was: the round has to be repeated.
    """
    done: list[CellRound] = []
    with _opened(arms, cells, stage, say, turns, seed) as floor:
        for cell, racing, paced in _heats(floor, cells, skip, timing, seed):
            done.append(floor.race(cell, racing, paced, replace(manner, spaced=cell.name in spaced)))
            yield done[-1]
    labels = (*_labels(done, arms, cells, floor.stand), *floor.lookout.labels())
    yield Round(index, seed, tuple(done), floor.phases.seconds(), labels)


@dataclass(frozen=True)
class _Floor:
    """What the cells of one process race on."""

    stand: Stand
    drivers: Mapping[Arm, Driver]
    rng: random.Random
    phases: Phases
    lookout: Lookout
    baton: Baton

    def race(self, cell: Cell, racing: Mapping[Arm, Driver], timing: TimingSpec, manner: Manner) -> CellRound:
        with CellRace(cell, self.stand, timing, self.rng, self.phases, self.lookout, self.baton) as race, _unless_taken(self.lookout):
            found = race.run(racing, manner)
        self.stand.bench.release()
        return found


@contextmanager
def _opened(arms: Sequence[Arm], cells: Sequence[Cell], stage: StageSpec, say: Say, turns: Turns, seed: int) -> Iterator[_Floor]:
    """Once the device is this process's, with all drivers open."""
    rng, bench = random.Random(seed), bench_for(stage, seed)
    phases = Phases(say, bench.now)
    if turns.shared and stage.simulation is None:
        import_ahead(arms)
    await_others(bench, phases)
    turns.hand_over()
    with phases.of("import"):
        stand, lookout = open_stand(bench, stage, arms, cells, seed), bench.lookout()
    with ExitStack() as stack, bench.working():
        stack.callback(lookout.close)
        drivers = _open_drivers(arms, stand, rng, phases, stack)
        baton = Baton(turns, bench, lookout)
        baton.hand_over()
        yield _Floor(stand, drivers, rng, phases, lookout, baton)


def _heats(
    floor: _Floor, cells: Sequence[Cell], skip: Collection[tuple[str, str]], timing: TimingSpec, seed: int
) -> Iterator[tuple[Cell, dict[Arm, Driver], TimingSpec]]:
    """Each cell with its arms and how it is timed, in an order that hangs on ``seed`` alone: another process beside us has the same."""
    order = random.Random(f"{seed}/cells").sample(list(cells), len(cells))
    racing = {cell: {arm: driver for arm, driver in floor.drivers.items() if (arm.name, cell.name) not in skip} for cell in order}
    raced = [cell for cell in order if racing[cell]]
    timings = for_process(timing, raced, floor.stand.bench.type)
    yield from ((cell, racing[cell], timings[cell.name]) for cell in raced)


def _open_drivers(arms: Sequence[Arm], stand: Stand, rng: random.Random, phases: Phases, stack: ExitStack) -> dict[Arm, Driver]:
    """In random order, with random padding between their workspaces."""
    ballast = stand.bench.ballast(rng)
    drivers: dict[Arm, Driver] = {}
    for arm in rng.sample(list(arms), len(arms)):
        ballast.add()
        with phases.of("import", arm.name), blaming(arm.name):  # mostly importing the engine
            drivers[arm] = stand.open_driver(arm)
        stack.callback(drivers[arm].close)
    stack.callback(ballast.drop)
    with phases.of("import"):
        stand.bench.keep()
    return drivers


@contextmanager
def _unless_taken(lookout: Lookout) -> Iterator[None]:
    """An arm that finds no memory is not to blame where somebody else took it: `Disturbed` is raised then."""
    try:
        yield
    except ArmFailed as failed:
        if failed.outcome is Outcome.OUT_OF_MEMORY:
            lookout.look()
        raise


def _labels(done: Sequence[CellRound], arms: Sequence[Arm], cells: Sequence[Cell], stand: Stand) -> tuple[str, ...]:
    """Cautions of the whole process; `CellRound.settled` says which cells the first is about."""
    labels = []
    if not all(cell.settled for cell in done):
        labels.append("unsettled")
    if any(stand.warm_risk(cell, arm) for cell in cells for arm in arms):
        labels.append("warm-risk")
    return (*labels, *_of_unknown_kernels(done, stand))


def _of_unknown_kernels(done: Sequence[CellRound], stand: Stand) -> Iterator[str]:
    """Whether they changed under their names, nobody would see. On a CPU there are none to know."""
    for name in dict.fromkeys(name for cell in done for name, _ in cell.launches if stand.bench.type != "cpu"):
        cells = [cell.cell for cell in done if name in dict(cell.launches) and name not in dict(cell.code_ids)]
        if cells:
            yield f"kernels not verifiable: {name} on {', '.join(sorted(cells))}"
