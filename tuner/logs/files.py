"""A log on disk with the parts that were rotated away from it, gzipped or not, as raw lines in the order in which they were written."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from tuner.errors import UsageError
from tuner.logs.recoded import Recoded

GZIP = b"\x1f\x8b"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
STDIN = "-"
LONGEST = 4 << 20  # bytes: what is longer is no line of a log, and is read in pieces
ENDS_EARLY = (EOFError, zlib.error, gzip.BadGzipFile)  # one that is still being written
# server.log.1, server.log.2.gz (logrotate, Python); server.log-20261130.gz (dateext); 0.log.20261130-131500.gz (kubelet)
ROTATED = re.compile(r"[.-](?:(?P<number>\d{1,3})|(?P<date>\d{4}-?\d\d-?\d\d[\d_T.:-]*?))(?:\.gz)?")


class Raw(NamedTuple):
    """``number`` counts from 1 in its file, as editors do; None behind what was not looked at. ``text`` is without the line end."""

    file: str
    number: int | None
    text: str

    @property
    def place(self) -> str:
        return f"{self.file} line {self.number}" if self.number else f"{self.file}, a line of its end"


def raw_lines(log: str, rotated: bool = True) -> Iterator[Raw]:
    """Those of ``log`` ("-": standard input), its rotated parts first. Raises `UsageError` where there is no such file."""
    for name, file in parts(log, rotated):
        yield from _numbered(name, file)


def parts(log: str, rotated: bool = True) -> Iterator[tuple[str, BinaryIO]]:
    """The files of ``log`` by name, open and unpacked, each until the next one is asked for. Raises as `raw_lines`."""
    if log == STDIN:
        yield "standard input", unpacked(sys.stdin.buffer)
        return
    path = Path(log)
    if path.is_dir() or not path.exists():
        what = "is a folder: name a file in it" if path.is_dir() else "does not exist: check the path"
        raise UsageError(f"--log {log} {what}")
    for part in (*rotated_parts(path), path) if rotated else (path,):
        with _opened(log, part) as file:
            yield part.name, unpacked(file)


def distinct(logs: Sequence[str]) -> tuple[str, ...]:
    """Without those that are read with another: the same file again, or a part that was rotated away from it."""
    files = {Path(log).resolve(): log for log in logs if log != STDIN}
    parts = {part.resolve() for path in files for part in rotated_parts(path)}
    return tuple(dict.fromkeys(STDIN if log == STDIN else files[Path(log).resolve()] for log in logs if Path(log).resolve() not in parts))


def _opened(log: str, part: Path) -> BinaryIO:
    try:
        return part.open("rb")
    except OSError as error:
        raise UsageError(
            f"--log {log}: {part.name} cannot be read ({error.strerror}); make it readable, or give its text with --log -"
        ) from None


def rotated_parts(path: Path) -> tuple[Path, ...]:
    """The oldest first: dates ascend, numbers descend. A pipe, or a file in a folder that cannot be listed, has none."""
    found = []
    for other in path.parent.iterdir() if path.is_file() and os.access(path.parent, os.R_OK) else ():
        rest = other.name.removeprefix(path.name)
        if rest != other.name and (match := ROTATED.fullmatch(rest)) and other.is_file():
            number, date = match["number"], match["date"] or ""
            found.append(((number is not None, date, -int(number or 0)), other))
    return tuple(other for _, other in sorted(found))


def _numbered(name: str, file: BinaryIO) -> Iterator[Raw]:
    for number, line in enumerate(_lines(file), 1):
        yield Raw(name, number, line.decode("utf-8", "replace").rstrip("\r\n"))


def unpacked(file: BinaryIO) -> BinaryIO:
    """Gzip shows in the content, not in the name; so does UTF-16, in which PowerShell writes."""
    begins = file.peek(len(GZIP))[: len(GZIP)] if hasattr(file, "peek") else b""
    if begins == GZIP:
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    return io.BufferedReader(Recoded(file, "utf-16")) if begins in UTF_16 else file


def _lines(file: BinaryIO) -> Iterator[bytes]:
    try:
        yield from iter(partial(file.readline, LONGEST), b"")
    except ENDS_EARLY:
        return
