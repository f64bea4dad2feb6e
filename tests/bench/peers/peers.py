"""What the peers pick: the arm their tool says is fastest, be it by how little."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from statistics import fmean

from tests.bench.peers.oracle import truths
from tests.bench.peers.rows import Reading, Row

PLAIN = ("do_bench", "do_bench_cudagraph", "flashinfer_events", "flashinfer_cudagraph", "span", "replays")
TRACED = ("flashinfer_cupti", "flashinfer_cupti_cudagraph")
NVBENCH = ("nvbench",)
MUCH = 0.01  # of regret
RAISING = 100  # index of the processes with raised repetitions


@dataclass(frozen=True)
class Pick:
    """``arm`` None: the tool could time none. ``index`` of its process, ``repeats`` of the tool."""

    tool: str
    cell: str
    index: int
    repeats: int
    arm: str | None


def picks(rows: Iterable[Row]) -> list[Pick]:
    found: dict[tuple[str, str, int], list[Reading]] = {}
    for row in rows:
        for reading in row.readings:
            found.setdefault((reading.tool, reading.cell, row.index), []).append(reading)
    return [_pick(*place, readings) for place, readings in found.items()]


def _pick(tool: str, cell: str, index: int, readings: Iterable[Reading]) -> Pick:
    timed = {reading.arm: fmean(reading.us) for reading in readings if reading.us}
    repeats = max(len(reading.us) for reading in readings)
    return Pick(tool, cell, index, repeats, min(timed, key=lambda arm: timed[arm]) if timed else None)


def worst_cells(rows: Iterable[Row], cells: Collection[str]) -> dict[str, str]:
    """By tool, the one of ``cells`` where its first pick costs most, if that is over 1 %."""
    rows = tuple(row for row in rows if row.failed is None)
    known = truths(rows)
    found: dict[str, tuple[float, str]] = {}
    for pick in picks(row for row in rows if row.index == 0):
        if pick.arm and pick.cell in cells and pick.cell in known and (regret := known[pick.cell].regret(pick.arm)) > MUCH:
            found[pick.tool] = max(found.get(pick.tool, (0.0, "")), (regret, pick.cell))
    return {tool: cell for tool, (_, cell) in found.items()}
