"""What was measured, kept whole: a line for each cell that a fresh process timed, compressed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from backends.arm import Arm
from backends.cell import Cell
from backends.measured import CellRound
from backends.wire import from_plain, to_plain

ROWS = Path(__file__).with_name("rows.jsonl.zst")
LEVEL, MAX_BYTES = 19, 64 * 2**20


@dataclass(frozen=True)
class Row:
    """``process`` counts the fresh processes of a geometry from 0; ``versions`` are those behind the arms' import names. ``kernels``: (arm,
    names of what one call launches, in order), of whoever was asked for them."""

    geometry: str
    process: int
    board: str
    driver: str | None
    versions: tuple[tuple[str, str], ...]
    arms: tuple[Arm, ...]
    cell: Cell
    timed: CellRound
    kernels: tuple[tuple[str, tuple[str, ...]], ...] = ()


def read_rows(file: Path = ROWS) -> tuple[Row, ...]:
    """None of a file that is not there yet."""
    if not file.exists():
        return ()
    text = zstandard.ZstdDecompressor().decompress(file.read_bytes(), max_output_size=MAX_BYTES).decode()
    return tuple(from_plain(Row, json.loads(line)) for line in text.splitlines())


def write_rows(rows: Iterable[Row], file: Path) -> None:
    """In place of what is there, at once: a kill leaves the old file or the new one."""
    lines = "".join(json.dumps(to_plain(row), sort_keys=True) + "\n" for row in rows)
    beside = file.with_name(f"{file.name}.new")
    beside.write_bytes(zstandard.ZstdCompressor(level=LEVEL).compress(lines.encode()))
    beside.replace(file)
