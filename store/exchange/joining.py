"""Two states of one run, as two databases may hold it: which has what, and what both have together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from backends.measured import Round
from store.revisit import Revisit
from store.runs.run import FINISHED, FOREIGN, INCOMPLETE, RUNNING, Run

S = TypeVar("S")
T = TypeVar("T", Round, Revisit)
RANK = (FOREIGN, RUNNING, INCOMPLETE, FINISHED)


def joined(one: Run, other: Run) -> Run | None:
    """What either holds, under the id of ``one``; None where they are two runs, or one that went on in two ways."""
    if _begun(one) != _begun(other):
        return None
    further, behind = (one, other) if _reach(one) >= _reach(other) else (other, one)
    trials, anchors = _longer(one.trials, other.trials), _longer(one.anchors, other.anchors)
    rounds, revisits = _union(one.rounds, other.rounds), _union(one.revisits, other.revisits)
    if trials is None or anchors is None or rounds is None or revisits is None or not _has_cells_of(further, behind):
        return None
    return replace(
        one,
        status=max(one.status, other.status, key=RANK.index),
        cells=further.cells,
        trials=trials,
        rounds=rounds,
        revisits=revisits,
        anchors=further.anchors,
        wall_seconds=_longest(one, other),
        left_out=further.left_out,
        decision=further.decision or one.decision or other.decision,
    )


def holds(one: Run, other: Run) -> bool:
    """Whether ``one`` has all of ``other``, whatever either is called and whoever vouches for it."""
    both = joined(one, other)
    return both is not None and replace(both, status=one.status) == one


def _begun(run: Run) -> Run:
    """What never changes after a run was begun."""
    grown = replace(run, cells=(), trials=(), rounds=(), revisits=(), anchors=(), wall_seconds=(), left_out=())
    return replace(grown, id="", status="", decision=None, serving_runs=())


def _reach(run: Run) -> tuple[int, int, int, int, bool]:
    return len(run.rounds), len(run.revisits), len(run.trials), len(run.cells), run.decision is not None


def _has_cells_of(further: Run, behind: Run) -> bool:
    """Cells may come to a run that is measured, with new weights for all; none goes. Of two that came equally far they are the same."""
    cells = {weighted.cell.name: weighted.cell for weighted in further.cells}
    if _reach(further) == _reach(behind):
        return further.cells == behind.cells
    return all(cells.get(weighted.cell.name) == weighted.cell for weighted in behind.cells)


def _longer(one: tuple[S, ...], other: tuple[S, ...]) -> tuple[S, ...] | None:
    """They are kept in the order in which they came."""
    shorter, longer = sorted((one, other), key=len)
    return longer if longer[: len(shorter)] == shorter else None


def _union(one: Sequence[T], other: Sequence[T]) -> tuple[T, ...] | None:
    found = {each.index: each for each in one}
    for each in other:
        if found.setdefault(each.index, each) != each:
            return None
    return tuple(found[index] for index in sorted(found))


def _longest(one: Run, other: Run) -> tuple[tuple[str, float], ...]:
    """By phase, in the order of ``one``."""
    mine, theirs = dict(one.wall_seconds), dict(other.wall_seconds)
    return tuple((phase, max(mine.get(phase, 0.0), theirs.get(phase, 0.0))) for phase in dict.fromkeys((*mine, *theirs)))
