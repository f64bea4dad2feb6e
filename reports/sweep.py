"""Many scenarios, one line each: for a terminal, as data, and as a page that leads to the pins."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from backends.wire import to_plain
from reports import numbers, wording
from reports.json_line import json_line
from reports.page import Table, clean, text_table
from reports.web.page import Dress
from store.sweeps.sweep import Ending, Entry, Sweep

HEADER = ("scenario", "board", "result", "effect on a step", "pin", "time")
PAGE = "index.html"
NOT_YET = "not yet"
MOST_CHARACTERS = 100  # of a cell in a terminal


def names(wishes: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What sets each scenario apart from the others; all of it where nothing does."""
    common = set.intersection(*map(set, wishes)) if len(wishes) > 1 else set()
    return tuple(" ".join(word for word in wish if word not in common) or " ".join(wish) for wish in wishes)


def render(sweep: Sweep, folder: Path) -> str:
    """Plain text: a table, what is too long for it, then a count of endings."""
    rows = _rows(sweep)
    shown = tuple((known_by, board, short(result), *rest) for known_by, board, result, *rest in rows)
    long = "".join(f"{known_by}: {result}\n\n" for known_by, _, result, *_ in rows if short(result) != result)
    table = text_table(Table(HEADER, shown), indent="")
    return f"{table}\n\n{long}{_counts(sweep)}\nindex     {folder / PAGE}\n"


def short(text: str) -> str:
    """As much of it as a table bears."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."


def render_json(sweep: Sweep) -> str:
    return json_line(to_plain(sweep))


def ending_json(ending: Ending) -> str:
    """One line."""
    return json_line(to_plain(ending))


def render_html(sweep: Sweep, folder: Path) -> str:
    """A page that lies in ``folder``."""
    from reports.web.html import render
    from reports.web.list_page import list_page

    rows = _rows(sweep)
    facts = ("begun", sweep.begun), ("command", sweep.command)
    dresses = tuple(_dress(entry, folder) for entry in sweep.entries)
    return render(list_page("Scenarios", _counts(sweep), facts, Table(HEADER, rows), dresses))


def result(ending: Ending | None) -> str:
    """In a few words: the flags, or that none are set, or what was in the way."""
    if ending is None:
        return NOT_YET
    if ending.pin is None:
        return f"exit {ending.exit_code}: {clean(ending.said)}"
    return wording.flags(ending.flags) or "unset"


def _rows(sweep: Sweep) -> tuple[tuple[str, ...], ...]:
    return tuple(map(_row, sweep.entries, names([entry.overrides for entry in sweep.entries])))


def _row(entry: Entry, known_by: str) -> tuple[str, ...]:
    ending = entry.ending
    board, effect, pin = (ending.board or "", ending.effect, ending.pin or "") if ending else ("", "", "")
    return known_by, board, result(ending), effect, pin, numbers.seconds(entry.seconds) if entry.seconds else ""


def _dress(entry: Entry, folder: Path) -> Dress:
    if entry.ending is None:
        return Dress("open")
    if entry.ending.pin is None:
        return Dress("bad")
    page = os.path.relpath(Path(entry.ending.pin).with_suffix(".md"), folder)
    return Dress("" if entry.ending.exit_code == 0 else "bad", HEADER.index("pin"), page)


def _counts(sweep: Sweep) -> str:
    kinds = Counter(_kind(entry.ending) for entry in sweep.entries)
    return f"{wording.count(len(sweep.entries), 'scenario')}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())


def _kind(ending: Ending | None) -> str:
    if ending is None:
        return NOT_YET
    if ending.pin is None:
        return "without a pin"
    return "with flags" if ending.flags else "unset"
