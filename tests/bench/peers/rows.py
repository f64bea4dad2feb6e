"""What was measured: a line for each process that ended, appended at once; compressed where it is committed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from backends.wire import from_plain, to_plain

ROWS = Path(__file__).with_name("rows.jsonl.zst")
LEVEL, MAX_BYTES = 19, 64 * 2**20


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
    """Of those that are there, one after the other. A last line that a kill cut off is left out."""
    return tuple(row for file in files if file.exists() for row in _rows(_text(file)))


def append_row(row: Row, file: Path) -> None:
    with file.open("a") as lines:
        lines.write(_line(row))
        lines.flush()


def keep(rows: Iterable[Row], file: Path = ROWS) -> None:
    file.write_bytes(zstandard.ZstdCompressor(level=LEVEL).compress("".join(map(_line, rows)).encode()))


def _line(row: Row) -> str:
    return json.dumps(to_plain(row)) + "\n"


def _rows(text: str) -> Iterable[Row]:
    whole = text[: text.rfind("\n") + 1]
    return (from_plain(Row, json.loads(line)) for line in whole.splitlines())


def _text(file: Path) -> str:
    if file.suffix != ".zst":
        return file.read_text()
    return zstandard.ZstdDecompressor().decompress(file.read_bytes(), max_output_size=MAX_BYTES).decode()
