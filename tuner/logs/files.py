"""A log on disk with the parts that were rotated away from it, gzipped or not, as raw lines in the order in which they were written."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tuner.errors import UsageError

GZIP = b"\x1f\x8b"
STDIN = "-"
# server.log.1, server.log.2.gz (logrotate, Python); server.log-20261130.gz (dateext); 0.log.20261130-131500.gz (kubelet)
ROTATED = re.compile(r"[.-](?:(?P<number>\d{1,3})|(?P<date>\d{4}-?\d\d-?\d\d[\d_T.:-]*?))(?:\.gz)?")


class Raw(NamedTuple):
    """``number`` counts from 1 in its file, as editors do; ``text`` is without the line end."""

    file: str
    number: int
    text: str


def raw_lines(log: str, rotated: bool = True) -> Iterator[Raw]:
    """Those of ``log`` ("-": standard input), its rotated parts first. Raises `UsageError` where there is no such file."""
    if log == STDIN:
        yield from _numbered("standard input", sys.stdin.buffer)
        return
    path = Path(log)
    if path.is_dir() or not path.exists():
        what = "is a folder: name a file in it" if path.is_dir() else "does not exist: check the path"
        raise UsageError(f"--log {log} {what}")
    for part in (*rotated_parts(path), path) if rotated and path.is_file() else (path,):  # a pipe has no parts
        with part.open("rb") as file:
            yield from _numbered(part.name, file)


def rotated_parts(path: Path) -> tuple[Path, ...]:
    """The oldest first: dates ascend, numbers descend."""
    found = []
    for other in path.parent.iterdir():
        rest = other.name.removeprefix(path.name)
        if rest != other.name and (match := ROTATED.fullmatch(rest)) and other.is_file():
            number, date = match["number"], match["date"] or ""
            found.append(((number is not None, date, -int(number or 0)), other))
    return tuple(other for _, other in sorted(found))


def _numbered(name: str, file: BinaryIO) -> Iterator[Raw]:
    for number, line in enumerate(_lines(file), 1):
        yield Raw(name, number, line.decode("utf-8", "replace").rstrip("\r\n"))


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Gzip shows in the content, not in the name; one that is still being written ends early."""
    begins = file.peek(len(GZIP))[: len(GZIP)] if hasattr(file, "peek") else b""
    if begins != GZIP:
        yield from file
        return
    try:
        yield from gzip.GzipFile(fileobj=file)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
