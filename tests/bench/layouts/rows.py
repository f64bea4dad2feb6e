"""What was measured, kept whole: a line for each cell that a fresh process timed, compressed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backends.arm import Arm
from backends.cell import Cell
from backends.measured import CellRound
from backends.wire import to_plain
from tests.bench import row_file

ROWS = Path(__file__).with_name("rows.jsonl.zst")


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
    return row_file.read(Row, file)


def write_rows(rows: Iterable[Row], file: Path) -> None:
    """In place of what is there, at once."""
    lines = (json.dumps(to_plain(row), sort_keys=True) + "\n" for row in rows)
    row_file.write(lines, file)
