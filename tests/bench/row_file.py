"""Rows of a bench in a file: a line for each process that ended, appended at once; compressed where it is committed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import zstandard

from backends.wire import from_plain, to_plain

LEVEL, MAX_BYTES = 19, 64 * 2**20
Row = TypeVar("Row")


def read(kind: type[Row], *files: Path) -> tuple[Row, ...]:
    """Of those that are there, one after the other. A last line that a kill cut off is left out."""
    return tuple(row for file in files if file.exists() for row in _rows(kind, _text(file)))


def append(row: object, file: Path) -> None:
    with file.open("a") as lines:
        lines.write(_line(row))
        lines.flush()


def compress(rows: Iterable[object], file: Path) -> None:
    file.write_bytes(zstandard.ZstdCompressor(level=LEVEL).compress("".join(map(_line, rows)).encode()))


def _line(row: object) -> str:
    return json.dumps(to_plain(row)) + "\n"


def _rows(kind: type[Row], text: str) -> Iterable[Row]:
    whole = text[: text.rfind("\n") + 1]
    return (from_plain(kind, json.loads(line)) for line in whole.splitlines())


def _text(file: Path) -> str:
    if file.suffix != ".zst":
        return file.read_text()
    return zstandard.ZstdDecompressor().decompress(file.read_bytes(), max_output_size=MAX_BYTES).decode()
