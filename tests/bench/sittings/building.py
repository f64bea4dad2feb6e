"""Sittings whose truth is known, for the tests of whatever judges one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from backends.anchored import Anchors
from backends.measured import CellRound, Round
from store.runs.run import Run
from tests.bench.sittings.measure import SLOWED
from tests.bench.sittings.sitting import Sitting, sitting_of
from tests.tuner.building import Recipe, arm, build, decode
from tuner.calibrating.noise import COPY

CELLS = ("a", "b", "c", "d")
LAUNCHES = 100  # so that every share of them is whole
BASE_US = 100.0


def made_up(
    name: str = "r1",
    board: str = "GPU-0",
    backends: Sequence[str] = ("fa3",),
    planted: Mapping[tuple[str, str], float] | None = None,
    slowed: Sequence[float] = SLOWED,
    processes: int = 4,
    seed: int = 1,
    shift: float = 1.0,
    anchors: tuple[Anchors, ...] = (),
    slowed_on: Sequence[str] = CELLS,
) -> Sitting:
    """``planted``: factors on the time of (arm, cell), beside what a copy's added launches take; ``shift``: on all times."""
    made = only_slowed_on(slowed_on, a_run(name, backends, planted or {}, slowed, processes, seed, shift))
    environment = made.environment
    return sitting_of(replace(made, environment=replace(environment, board=replace(environment.board, uuid=board))), anchors)


def a_run(
    name: str,
    backends: Sequence[str],
    planted: Mapping[tuple[str, str], float],
    slowed: Sequence[float],
    processes: int,
    seed: int,
    shift: float,
    process_sd: float = 0.0003,
) -> Run:
    originals = [arm(backend) for backend in backends]
    copies = [{"copy": COPY}, *({"slowed": share} for share in slowed)]
    arms = (*originals, *(replace(each, **copy) for copy in copies for each in originals))  # type: ignore[arg-type]
    times = {
        (each.name, cell): BASE_US * shift * (1 + each.slowed) * planted.get((each.name, cell), 1.0) for each in arms for cell in CELLS
    }
    cells = tuple(replace(decode(cell), cell=replace(decode(cell).cell, seed=place)) for place, cell in enumerate(CELLS))
    recipe = Recipe(arms, times, cells, processes=processes, process_sd=process_sd, visit_sd=0.0001, seed=seed)
    run = build(recipe)
    return replace(run, id=name, created=f"2026-01-02T03:04:{seed:02}Z", rounds=tuple(map(_counted, run.rounds)))


def only_slowed_on(cells: Collection[str], run: Run) -> Run:
    """``run`` with the trials and visits of slowed copies on ``cells`` alone."""
    slowed = {each.name for each in run.arms if each.slowed}

    def left(each: CellRound) -> CellRound:
        return each if each.cell in cells else replace(each, visits=tuple(visit for visit in each.visits if visit.arm not in slowed))

    rounds = (replace(measured, cells=tuple(map(left, measured.cells))) for measured in run.rounds)
    trials = (trial for trial in run.trials if trial.arm not in slowed or trial.cell in cells)
    return replace(run, rounds=tuple(rounds), trials=tuple(trials))


def _counted(measured: Round) -> Round:
    cells = (replace(each, launches=tuple((name, LAUNCHES) for name, _ in each.launches)) for each in measured.cells)
    return replace(measured, cells=tuple(cells))


def left_after(sitting: Sitting, processes: int, cells: Collection[str]) -> Sitting:
    """``sitting`` as if ``cells`` had been in the first ``processes`` alone."""

    def staying(place: int, measured: Round) -> Round:
        return replace(measured, cells=tuple(each for each in measured.cells if place < processes or each.cell not in cells))

    return replace(sitting, rounds=tuple(staying(*each) for each in enumerate(sitting.rounds)))


def without(sitting: Sitting, process: int, arm_name: str, cell: str) -> Sitting:
    """``sitting`` as if one process had not timed the arm on the cell."""

    def left(each: CellRound) -> CellRound:
        return replace(each, visits=tuple(visit for visit in each.visits if visit.arm != arm_name)) if each.cell == cell else each

    rounds = list(sitting.rounds)
    rounds[process] = replace(rounds[process], cells=tuple(map(left, rounds[process].cells)))
    return replace(sitting, rounds=tuple(rounds))


def anchors(read_us: float) -> Anchors:
    """Visits that all took the same, and other anchors that never change."""
    return Anchors(4e12, 8e14, 1 << 30, (read_us,) * 10, (5000.0,) * 10, (34.0,) * 10, spin_us=(100.2,) * 10)
