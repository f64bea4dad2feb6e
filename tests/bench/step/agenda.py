"""Which process comes next: a pure function of what is stored. Ours first, then SGLang's by turns, forwards and backwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.step.cells import ARMS, BACKENDS
from tests.bench.step.rows import Row

REST, ROUND, TRIAL, ENGINE = "rest", "round", "trial", "engine"
ROUNDS, STARTS, PATIENCE = 2, 10, 2  # processes of a kind; more than 10 starts are not judged; failures of one place
EXPECTED_S = {REST: 45.0, ROUND: 70.0, TRIAL: 60.0, ENGINE: 70.0}  # where none was seen yet


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
    yield from (Task(ROUND, index) for index in range(ROUNDS))
    yield from (Task(TRIAL, 0, backend) for backend in BACKENDS)
    for index in range(STARTS):
        yield from (Task(ENGINE, index, arm) for arm in (ARMS if index % 2 == 0 else reversed(ARMS)))


def expected_s(rows: Sequence[Row], task: Task) -> float:
    """As long as the others of its kind and arm."""
    seen = [row.wall_s for row in rows if row.kind == task.kind and row.arm == task.arm and row.failed is None]
    return median(seen) if seen else EXPECTED_S[task.kind]


def _is_settled(rows: Sequence[Row], task: Task) -> bool:
    """An arm that failed twice at its first place is not asked again at all."""
    mine = [row for row in rows if (row.kind, row.arm) == (task.kind, task.arm)]
    if sum(row.failed is not None for row in mine if row.index == 0) >= PATIENCE:
        return True
    here = [row for row in mine if row.index == task.index]
    return any(row.failed is None for row in here) or len(here) >= PATIENCE
