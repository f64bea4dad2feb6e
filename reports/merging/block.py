"""Entries as lines of YAML: each key below the comment that says whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reports.launchers.entries import Entry
from reports.launchers.mark import mark, scalar

STEP = 2  # columns of an indentation


def block(entries: Iterable[Entry], column: int, run: str) -> Iterator[str]:
    """Lines of a mapping that begins at ``column``."""
    blanks = " " * column
    for its in grouped(entries).values():
        name = its[0].path[0]
        if len(its[0].path) == 1:
            yield f"{blanks}# {mark(run, its[0].text, its[0].because)}"
            yield f"{blanks}{name}: {plain(its[0])}"
        else:
            yield f"{blanks}{name}:"
            yield from block([inner(entry) for entry in its], column + STEP, run)


def grouped(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """By the first key of their paths, in order."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(name_of(entry), []).append(entry)
    return found


def name_of(entry: Entry) -> str:
    return entry.path[0].replace("_", "-")


def dotted(entry: Entry) -> str:
    return ".".join(entry.path).replace("_", "-")


def inner(entry: Entry) -> Entry:
    return Entry(entry.path[1:], entry.value, entry.because)


def plain(entry: Entry) -> str:
    return scalar(entry.value) if isinstance(entry.value, str) else entry.text
