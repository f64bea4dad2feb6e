"""For how long a contestant holds the GPU: starts, builds and checks included."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.peers import ours
from tests.bench.peers.rows import Row


@dataclass(frozen=True)
class Held:
    """``starts_s``: imports and the device's start, of all its processes; ``work_s``: the rest."""

    starts_s: float = 0.0
    work_s: float = 0.0

    def __add__(self, other: Held) -> Held:
        return Held(self.starts_s + other.starts_s, self.work_s + other.work_s)

    @property
    def all_s(self) -> float:
        return self.starts_s + self.work_s


def start_s(rows: Iterable[Row]) -> float:
    """Of a process that imports when it is its turn; the longest seen where all imported ahead."""
    starts = [(row.ahead, row.start_s) for row in rows if row.failed is None]
    alone = [spent for ahead, spent in starts if not ahead]
    return median(alone) if alone else max((spent for _, spent in starts), default=0.0)


def of_tool(rows: Sequence[Row], tool: str, repeats: int) -> Held:
    """Its first process of each block, which it shares with other tools: the start and its own preparing and timing, ``repeats`` times
    as much of that."""
    spent = Held()
    for row in rows:
        mine = [reading for reading in row.readings if reading.tool == tool]
        if row.index == 0 and mine:
            own = sum(reading.prepare_s + repeats * reading.timing_s / max(1, len(reading.us)) for reading in mine)
            spent += Held(start_s(rows), own)
    return spent


def of_ours(rows: Sequence[Row], seats: Collection[tuple[str, str, int]]) -> Held:
    """Its processes, as far as they timed ``seats`` (cell, arm, process): some also time who had left already. All but the first of
    them may import while the one before measures, as in `attnpin tune`."""
    spent = Held()
    for row in rows:
        timed = [(timed.cell, timed.arm, row.index) for timed in row.timed]
        needed = sum(seat in seats for seat in timed)
        if row.kind == ours.KIND and needed:
            starts_s = row.start_s if row.ahead and row.index else start_s(rows)
            spent += Held(starts_s, (row.wall_s - row.start_s) * needed / len(timed))
    return spent
