"""Which process comes next: a pure function of what is stored, so that a sitting which was cut off goes on where it was.

First everything on the cells of block 1, once or as often as a decision takes; then the same on the others, but for the tools that take
long; then again and again what tells how often picks flip; then what makes the oracle surer, and the raised repetitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.bench.peers import oracle, ours
from tests.bench.peers.oracle import processes_of
from tests.bench.peers.peers import PLAIN, RAISING, TRACED, worst_cells
from tests.bench.peers.rows import Row

Arms = tuple[str, ...]
PATIENCE = 3  # failures of one process
FLIPS = 10
RAISED = 10  # times a tool's own repetitions
SURE = 64  # processes of the oracle on a cell at the most: half-widths of 0.2 % where two arms' processes differ by 0.8 %
FIRST = (
    *((oracle.KIND, 0), (ours.KIND, 0), ("plain", 0)),
    *((ours.KIND, 1), (ours.KIND, 2), (ours.KIND, 3), (oracle.KIND, 1), (oracle.KIND, 2), (oracle.KIND, 3)),
)
SLOW = (("traced", 0), ("nvbench", 0))
SOME = range(1, 6)


@dataclass(frozen=True)
class Task:
    """One fresh process. ``cells`` with the arms it times on each; ``tools`` of a peers' process, each so many ``repeats``."""

    kind: str
    block: int
    index: int
    cells: Mapping[str, Arms]
    tools: tuple[str, ...] = ()
    repeats: int = 1


def next_task(rows: Sequence[Row], cells: Mapping[int, Arms], arms: Arms, only: Collection[str] = ()) -> Task | None:
    """``rows`` of one group, whose ``cells`` are by block. ``only`` these kinds, where any are named."""
    settled = {_place(row) for row in rows if _is_settled(rows, _place(row))}
    for kind, block, index in order():
        if (kind, block, index) not in settled and (not only or kind in only):
            task = without_lost(_task(rows, cells[block], arms, kind, block, index), rows)
            if task.cells:
                return task
    return None


def without_lost(task: Task, rows: Iterable[Row]) -> Task:
    """What an arm broke a process with, it is not asked again."""
    lost = {(row.lost_arm, row.lost_cell) for row in rows if row.lost_arm}
    left = {cell: tuple(arm for arm in arms if not {(arm, cell), (arm, None)} & lost) for cell, arms in task.cells.items()}
    return replace(task, cells={cell: arms for cell, arms in left.items() if len(arms) > 1})


def order() -> Iterator[tuple[str, int, int]]:
    yield from ((kind, 1, index) for kind, index in (*FIRST, *SLOW))
    yield from ((kind, 2, index) for kind, index in FIRST)
    for index in SOME:
        yield from (("plain", 1, index), (ours.KIND, 1, index + 3))
    yield from ((kind, 2, index) for kind, index in SLOW)
    yield from ((oracle.KIND, block, index) for index in (4, 5) for block in (1, 2))
    yield from ((ours.KIND, 2, index) for index in (4, 5, 6, 7))
    yield from (("plain", block, RAISING) for block in (1, 2))
    for index in range(max(SOME) + 1, FLIPS):
        yield from (("plain", 1, index), (ours.KIND, 1, index + 3) if index + 3 < FLIPS else (oracle.KIND, 1, index))
    yield from (("traced", 1, index) for index in range(1, FLIPS))
    yield from ((oracle.KIND, block, index) for index in range(6, SURE) for block in (1, 2))


def _place(row: Row) -> tuple[str, int, int]:
    return row.kind, row.block, row.index


def _is_settled(rows: Iterable[Row], place: tuple[str, int, int]) -> bool:
    found = [row for row in rows if _place(row) == place]
    return any(row.failed is None for row in found) or len(found) >= PATIENCE


def _task(rows: Sequence[Row], cells: Arms, arms: Arms, kind: str, block: int, index: int) -> Task:
    everything = dict.fromkeys(cells, arms)
    if kind == oracle.KIND:
        return Task(kind, block, index, everything if index < oracle.FIRST else oracle.wanted(rows, cells))
    if kind == ours.KIND:
        return Task(kind, block, index, everything if block == 1 or index == 0 else _racing(rows, cells))
    if index < RAISING:
        return Task(kind, block, index, everything, {"plain": PLAIN, "traced": TRACED}.get(kind, ()))
    worst = {tool: cell for tool, cell in worst_cells(rows, cells).items() if tool in PLAIN}
    return Task(kind, block, index, dict.fromkeys(sorted(set(worst.values())), arms), tuple(worst), RAISED)


def _racing(rows: Sequence[Row], cells: Arms) -> dict[str, Arms]:
    found = {cell: ours.wanted(processes) for cell, processes in processes_of(rows, ours.KIND).items() if cell in cells}
    return {cell: arms for cell, arms in found.items() if len(arms) > 1}
