"""A file as rows, one at a time and however large it is: CSV with a header, JSON lines, or one JSON document with a list in it.

A row that cannot be read is a row too, a `Bad` one: it is counted and named, and the next is read.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

from tuner.errors import UsageError

Value = Mapping[str, Any]

FIRST = 1 << 20  # bytes that are looked at before a form is chosen
PRINTED = 0.95  # of the bytes of a first line that is text, at least; others are control characters
LARGEST = 256 << 20  # of one row
UTF16 = (b"\xff\xfe", b"\xfe\xff")
UTF8_MARK = b"\xef\xbb\xbf"
CONTROLS = tuple(bytes((code,)) for code in range(32) if code not in b"\t\n\v\f\r\x1b")
STRAY = re.compile("[\udc80-\udcff]")  # what bytes that are no UTF-8 are read as
BETWEEN = re.compile(r"[,\s]*")
NOT_UTF8, NOT_JSON, CUT, NO_OBJECT = "not UTF-8", "no JSON", "cut short", "no JSON object"
csv.field_size_limit(LARGEST)


@dataclass(frozen=True)
class Bad:
    """Why a row was not understood, in a few words, none of them the row's own: it may hold what users wrote."""

    why: str


Row = tuple[int, Value | Bad]  # its number in the file: lines from 1, or items from 1


def rows(stream: BinaryIO, name: str) -> Iterator[Row]:
    """Raises `UsageError` for a file that is empty, or no text."""
    first = stream.readline(FIRST)
    while first and not first.removeprefix(UTF8_MARK).strip():
        first = stream.readline(FIRST)
    if first.startswith(UTF16):
        raise UsageError(f"traffic.path={name} is UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")
    if b"\0" in first or not _is_text(first):
        raise UsageError(f"traffic.path={name} is no text; give CSV, JSON or a server's log")
    text = first.removeprefix(UTF8_MARK).lstrip()
    if not text:
        raise UsageError(f"traffic.path={name} is empty; give a file with requests in it")
    if text.startswith(b"[") or (text.startswith(b"{") and not _whole(text, stream)):
        return _document(text, stream, name)
    return _lines(text, stream) if text.startswith(b"{") else _table(text, stream, name)


def _is_text(line: bytes) -> bool:
    """Letters of other encodings than UTF-8 pass, and are told row by row."""
    controls = sum(line.count(code) for code in CONTROLS)
    return controls <= (1 - PRINTED) * len(line)


def _whole(line: bytes, stream: BinaryIO) -> bool:
    """Whether a line is a JSON value by itself, or at least ends as one that is broken would."""
    return line.rstrip().endswith(b"}") or (line.endswith(b"\n") and not line.rstrip().endswith((b"{", b"[", b",", b":")))


def _lines(first: bytes, stream: BinaryIO) -> Iterator[Row]:
    for number, line in enumerate(chain((first,), iter(lambda: stream.readline(LARGEST), b"")), 1):
        if line.strip():
            yield number, _object(line)


def _object(line: bytes) -> Value | Bad:
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError:
        return Bad(NOT_UTF8)
    except (ValueError, RecursionError):
        return Bad(NOT_JSON)
    return found if isinstance(found, dict) else Bad(NO_OBJECT)


def _document(first: bytes, stream: BinaryIO, name: str) -> Iterator[Row]:
    """Items of a list are read one by one; an object is read whole."""
    if first.startswith(b"["):
        yield from _items(first[1:], stream)
        return
    whole = first + stream.read(LARGEST)
    if stream.read(1):
        raise UsageError(f"traffic.path={name} is one JSON object of more than {LARGEST >> 20} MiB; write one request a line")
    yield 1, _object(whole)


def _items(text: bytes, stream: BinaryIO) -> Iterator[Row]:
    """What was read is cut off once for each piece of the file, not for each item."""
    decoder, utf8 = json.JSONDecoder(), codecs.getincrementaldecoder("utf-8")("surrogateescape")
    held, at, ended, number, size = utf8.decode(text), 0, False, 0, FIRST
    while True:
        at = _past(held, at)
        if held.startswith("]", at):
            return
        try:
            found, end = decoder.raw_decode(held, at)
        except (ValueError, RecursionError):
            if ended or len(held) - at > LARGEST:
                if at < len(held):
                    yield number + 1, Bad(CUT if ended else NOT_JSON)
                return
            more = stream.read(size)
            held, at, ended, size = held[at:] + utf8.decode(more, final=not more), 0, not more, 2 * size
            continue
        number, size = number + 1, FIRST
        bad = Bad(NOT_UTF8) if STRAY.search(held, at, end) else None
        yield number, bad or (found if isinstance(found, dict) else Bad(NO_OBJECT))
        at = end


def _past(held: str, at: int) -> int:
    """Where the next item begins."""
    found = BETWEEN.match(held, at)
    return found.end() if found else at


def _table(first: bytes, stream: BinaryIO, name: str) -> Iterator[Row]:
    head = first.decode(errors="surrogateescape")
    delimiter = max(",;\t", key=head.count)
    if not re.search(r"[A-Za-z_]", head):
        raise UsageError(f"traffic.path={name} begins with {head.strip()[:40]!r}, which is no header; write the names of its columns there")
    lines = (line.decode(errors="surrogateescape") for line in iter(lambda: stream.readline(LARGEST), b""))
    names = [column.strip() for column in next(csv.reader([head], delimiter=delimiter))]
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num + 1, Bad(str(error))
            continue
        if fields:
            yield reader.line_num + 1, _record(names, fields)


def _record(names: list[str], fields: list[str]) -> Value | Bad:
    if any(STRAY.search(field) for field in fields):
        return Bad(NOT_UTF8)
    return dict(zip(names, fields)) if len(fields) >= len(names) else Bad(CUT)
