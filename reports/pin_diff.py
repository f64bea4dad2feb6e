"""What became of a pin, for a terminal, a pull request or a program: what to deploy otherwise first, then why, then every difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from backends.wire import to_plain
from reports import numbers, page
from reports.json_line import json_line
from reports.page import Section, Table, clean
from reports.side_by_side import TOGETHER, WHY, worst
from reports.verdict_row import interval, times
from store.pins.pin_diff import PinDiff, Plain
from store.verdicts.comparison import Label
from store.verdicts.verdict import Change
from store.verdicts.version_verdict import Row

MOST = 3  # of a kind on the first screen
ABSENT = "absent"
JUDGED = ("arm", "cell", "older", "newer", "ratio (98 % interval)", "verdict", "processes", "detectable")
PLAIN = ("arm", "cell", "older", "newer", "ratio", "not judged, since")
LEGEND = "ratio = newer/older, above 1 is slower; two sittings, so a screen and no proof"
TITLES = (
    ("Flags", "flags"),
    ("Reasons", "reasons"),
    ("What moved under the pin", "moved"),
    ("What was asked for", "asked"),
    ("Arms", "arms"),
    ("What the justification says otherwise", "said"),
)


def render_json(found: PinDiff) -> str:
    """The record's own fields on one line; null where a thing was or is absent."""
    return json_line(to_plain(found))


def render_text(found: PinDiff) -> str:
    head = "\n".join([headline(found), *(f"  {label:<12}  {clean(line)}" for label, line in first_screen(found))])
    return "\n\n".join([head, *map(page.text, _sections(found))]) + "\n"


def render_markdown(found: PinDiff) -> str:
    head = f"**{page.escaped(headline(found))}**"
    return "\n\n".join([head, "\n".join(map(page.bullet, first_screen(found))), *map(page.markdown, _sections(found))]) + "\n"


def headline(found: PinDiff) -> str:
    return clean(f"{found.turn.value}: {found.sentence}")


def first_screen(found: PinDiff) -> tuple[tuple[str, str], ...]:
    """(label, sentence), a dozen lines at most."""
    lines = (
        ("pins", f"{found.old}; {found.new}"),
        *(("because", f"{change.what}: {change.after}") for change in _new_reasons(found)[:MOST]),
        ("default", _default(found.reasons)),
        ("effect", next((change.after or "" for change in found.said if change.what == "Predicted effect"), "")),
        ("moved", _first(found.moved) or "nothing under the pin"),
        ("asked", _first(found.asked)),
        ("times", _times(found.judged)),
        *(("not compared", sentence) for sentence in found.uncompared[:MOST]),
        ("not compared", _more(found.uncompared)),
    )
    return tuple((label, sentence) for label, sentence in lines if sentence)


def _new_reasons(found: PinDiff) -> list[Change]:
    return [change for change in found.reasons if change.what != "default" and change.after is not None]


def _default(reasons: Iterable[Change]) -> str:
    """Where the engine itself would pick something else."""
    change = next((change for change in reasons if change.what == "default"), None)
    if change is None or change.before is None or change.after is None:
        return ""
    was, now = (text.partition(":")[0] for text in (change.before, change.after))
    return f"{was} before, {now} now" if was != now else ""


def _first(changes: Sequence[Change]) -> str:
    shown = map(_brief, changes[:MOST])
    return "; ".join([*shown, *([f"{len(changes) - MOST} more below"] if len(changes) > MOST else [])])


def _brief(change: Change) -> str:
    """Of what is said at length, the name alone, before its colon."""
    was, now = (_either(text).partition(": ")[0] for text in (change.before, change.after))
    return f"{change.what} {was} -> {now}" if was != now else f"another {change.what} of that name ({now})"


def _more(sentences: Sequence[str]) -> str:
    return f"{len(sentences) - MOST} more below" if len(sentences) > MOST else ""


def _times(rows: Sequence[Row]) -> str:
    cells = [row for row in rows if row.cell]
    if not cells:
        return ""
    counts = Counter(row.verdict.label for row in cells)
    labels = ", ".join(f"{counts[label]} {label.value}" for label in Label if counts[label])
    return f"of {len(cells)} that were judged {labels}; farthest apart: {worst(cells)}"


def _sections(found: PinDiff) -> Iterator[Section]:
    if found.judged:
        yield Section("Times, newer against older", (Table(JUDGED, tuple(map(_judged, found.judged))), f"{LEGEND}."))
    if found.plain:
        yield Section("Times beside them", (Table(PLAIN, tuple(map(_plain, found.plain))),))
    for title, field in TITLES:
        if changes := getattr(found, field):
            yield Section(title, (_table(changes),))
    if rest := (*found.uncompared, *found.notes):
        yield Section("What limits the comparison", rest)


def _table(changes: Sequence[Change]) -> Table:
    """With what each touches, where anything is said to be touched."""
    rows = tuple((change.what, _either(change.before), _either(change.after), ", ".join(change.touches)) for change in changes)
    width = 4 if any(row[3] for row in rows) else 3
    return Table(("what", "older", "newer", "touches")[:width], tuple(row[:width] for row in rows))


def _judged(row: Row) -> tuple[str, ...]:
    its = row.verdict.numbers
    label = row.verdict.label.value + (f": {WHY[row.verdict.why]}" if row.verdict.why else "")
    return row.arm, row.cell or TOGETHER, *times(row), interval(row), label, str(its.rounds), numbers.percent(its.minimum_detectable)


def _plain(each: Plain) -> tuple[str, ...]:
    then, now = numbers.microseconds(each.old_us), numbers.microseconds(each.new_us)
    return each.arm, each.cell, then, now, numbers.ratio(each.new_us / each.old_us), each.why


def _either(value: str | None) -> str:
    return ABSENT if value is None else value
