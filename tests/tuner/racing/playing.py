"""Races without a worker: each round that is asked for is cut out of one in which every arm was timed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from backends.measured import CellRound, Round
from store.runs.run import Run
from tests.tuner.building import Recipe, build, one_cell_each
from tuner.racing.next_round import NextRound, next_round

ENOUGH = 20  # processes, more than any race here takes


def started(times: dict[str, tuple[float, float]], asked: int = 8, **changes: Any) -> Run:
    """A run with all that its processes would measure, which `play` takes out one by one."""
    return one_cell_each(times, processes=ENOUGH, asked=asked, **changes)


def started_from(recipe: Recipe, asked: int = 8) -> Run:
    return build(replace(recipe, processes=ENOUGH, asked=asked))


def play(whole: Run, known: int = 0, **how: Any) -> Run:
    """The run as it ends; ``known`` rounds of it as they were are there already."""
    return [*steps(whole, known, **how)][-1]


def steps(whole: Run, known: int = 0, **how: Any) -> Iterator[Run]:
    """The run before each round that is asked for, and after the last."""
    run = replace(whole, rounds=whole.rounds[:known])
    yield run
    while coming := next_round(run, **how):
        run = replace(run, rounds=(*run.rounds, seated(whole.rounds[coming.index], coming)))
        yield run


def seated(measured: Round, coming: NextRound) -> Round:
    seats = {(entrant.arm.name, cell) for entrant in coming.field for cell in entrant.cells}
    cells = tuple(_with(cell, seats) for cell in measured.cells if any(name == cell.cell for _, name in seats))
    return replace(measured, index=coming.index, cells=cells, confirms=coming.confirms)


def _with(cell: CellRound, seats: set[tuple[str, str]]) -> CellRound:
    return replace(
        cell,
        launches=tuple(entry for entry in cell.launches if (entry[0], cell.cell) in seats),
        visits=tuple(visit for visit in cell.visits if (visit.arm, cell.cell) in seats),
        metadata_us=tuple(entry for entry in cell.metadata_us if (entry[0], cell.cell) in seats),
    )


def field(run: Run, index: int) -> dict[str, set[str]]:
    """Arms by backend name, with the cells they were timed on in a round."""
    found: dict[str, set[str]] = {}
    for cell in run.rounds[index].cells:
        for visit in cell.visits:
            found.setdefault(visit.arm.partition("/")[0], set()).add(cell.cell)
    return found
