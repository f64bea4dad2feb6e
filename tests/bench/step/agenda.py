"""Which process comes next: a pure function of what is stored. One of each kind first, then what makes them surer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.step.cells import ARMS
from tests.bench.step.rows import Row

REST, ROUND, STREAMED, TURNS, ENGINE = "rest", "round", "streamed", "turns", "engine"
ROUNDS, TURNED, STARTS, PATIENCE = 2, 2, 2, 2  # processes of a kind, of `ENGINE` an arm; failures of one place
EXPECTED_S = {REST: 20.0, ROUND: 70.0, STREAMED: 60.0, TURNS: 110.0, ENGINE: 70.0}  # where none was seen yet
PARTLY = {TURNS: 0.6}  # of that time: of these a process that is cut off leaves the sizes it has done


@dataclass(frozen=True)
class Task:
    kind: str
    index: int
    arm: str | None = None


def next_task(rows: Sequence[Row], only: Collection[str] = ()) -> Task | None:
    """``only`` these kinds, where any are named."""
    wanted = (task for task in order() if not only or task.kind in only)
    return next((task for task in wanted if not _is_settled(rows, task)), None)


def order() -> Iterator[Task]:
    yield Task(REST, 0)
    yield from (Task(ROUND, 0), Task(STREAMED, 0))
    yield from (Task(TURNS, index) for index in range(TURNED))
    yield from (Task(kind, index) for index in range(1, ROUNDS) for kind in (STREAMED, ROUND))
    for index in range(STARTS):
        yield from (Task(ENGINE, index, arm) for arm in (ARMS if index % 2 == 0 else reversed(ARMS)))


def needed_s(rows: Sequence[Row], task: Task) -> float:
    """As long as the others of its kind and arm took, or what of it is worth beginning."""
    seen = [row.wall_s for row in rows if row.kind == task.kind and row.arm == task.arm and row.failed is None]
    return PARTLY.get(task.kind, 1.0) * (median(seen) if seen else EXPECTED_S[task.kind])


def _is_settled(rows: Sequence[Row], task: Task) -> bool:
    """An arm that failed twice at its first place is not asked again at all."""
    mine = [row for row in rows if (row.kind, row.arm) == (task.kind, task.arm)]
    if sum(row.failed is not None for row in mine if row.index == 0) >= PATIENCE:
        return True
    here = [row for row in mine if row.index == task.index]
    return any(row.failed is None for row in here) or len(here) >= PATIENCE
