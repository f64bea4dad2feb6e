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


def read(kind: type[Row], *files: Path, max_bytes: int = MAX_BYTES) -> tuple[Row, ...]:
    """Of those that are there, one after the other. A last line that a kill cut off is left out. ``max_bytes``: of a file, unpacked."""
    return tuple(row for file in files if file.exists() for row in _rows(kind, _text(file, max_bytes)))


def append(row: object, file: Path) -> None:
    with file.open("a") as lines:
        lines.write(_line(row))
        lines.flush()


def compress(rows: Iterable[object], file: Path) -> None:
    write(map(_line, rows), file)


def write(lines: Iterable[str], file: Path) -> None:
    """Compressed, in place of what is there, at once: a kill leaves the old file or the new one."""
    beside = file.with_name(f"{file.name}.new")
    beside.write_bytes(zstandard.ZstdCompressor(level=LEVEL).compress("".join(lines).encode()))
    beside.replace(file)


def _line(row: object) -> str:
    return json.dumps(to_plain(row)) + "\n"


def _rows(kind: type[Row], text: str) -> Iterable[Row]:
    whole = text[: text.rfind("\n") + 1]
    return (from_plain(kind, json.loads(line)) for line in whole.splitlines())


def _text(file: Path, max_bytes: int) -> str:
    data = file.read_bytes()
    if data.startswith(zstandard.FRAME_HEADER):
        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=max_bytes)
    return data.decode()
