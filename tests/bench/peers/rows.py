"""What was measured: a row for each process that ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.bench import row_file

ROWS = Path(__file__).with_name("rows.jsonl.zst")


@dataclass(frozen=True)
class Timed:
    """An arm on a cell in an interleaved round: device microseconds of a call, one value (a median) a visit; ``served_us`` the same
    with the host, empty where a graph is replayed."""

    cell: str
    arm: str
    visit_us: tuple[float, ...]
    served_us: tuple[float, ...] = ()
    settled: bool = True


@dataclass(frozen=True)
class Reading:
    """What a peer's tool said of an arm on a cell, once a repetition; none with ``error``. ``timing_s``: what all its repetitions
    took; ``prepare_s``: until the call could be handed to it."""

    tool: str
    cell: str
    arm: str
    us: tuple[float, ...]
    timing_s: float
    prepare_s: float
    error: str | None = None


@dataclass(frozen=True)
class Row:
    """One fresh process. ``start_s``: until its first cell; ``ahead``: its imports were done before it was its turn, beside another
    process. ``failed``: it brought nothing, and why; ``lost_arm`` is to blame, on ``lost_cell`` or (None) on all."""

    kind: str
    group: str
    block: int
    index: int
    wall_s: float
    start_s: float
    ahead: bool
    board: str
    versions: tuple[tuple[str, str], ...]
    seconds: tuple[tuple[str, float], ...] = ()
    timed: tuple[Timed, ...] = ()
    readings: tuple[Reading, ...] = ()
    failed: str | None = None
    lost_arm: str | None = None
    lost_cell: str | None = None


def read_rows(*files: Path) -> tuple[Row, ...]:
    return row_file.read(Row, *files)
