"""What a check that measured found, for a terminal, a pull request or a program: the answer first, then its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from backends.wire import to_plain
from reports import dispatch, numbers, page, wording
from reports.json_line import json_line
from reports.page import Section, Table, clean, one_line
from reports.side_by_side import TOGETHER, WHY
from reports.verdict import BEARINGS, change_table
from reports.verdict_markdown import MARK, MOST_BYTES
from reports.verdict_row import interval, times
from store.verdicts.checked import Action, Checked, Glance, Next
from store.verdicts.version_verdict import Broken, Row

HEADER = ("arm", "cell", "pinned at", "today", "ratio (98 % interval)", "verdict", "kernels", "processes", "detectable")
LEGEND = (
    "ratio = today/pinned, above 1 is slower, less what untouched arms moved by; detectable = the smallest true change that four such "
    "comparisons of five would show"
)
PAIRS = "the ratio of one sitting, old and new in turns: this is what counts"
WAY_OUT = "way out"
ACTIONS = {Action.KEEP: "keep", Action.SWITCH: "switch to", Action.UNSET: "set no flag", Action.NONE: "undecided"}


def render_json(found: Checked) -> str:
    """The record's own fields on one line."""
    return json_line(to_plain(found))


def render_text(found: Checked) -> str:
    """Ways out as they are: their commands are to be typed."""
    said = (f"  {label:<10} {(one_line if label == WAY_OUT else clean)(line)}" for label, line in lines(found))
    head = "\n".join([headline(found), *said])
    return "\n\n".join([head, *map(page.text, sections(found))]) + "\n"


def render_markdown(all_found: Sequence[Checked]) -> str:
    """A comment for a pull request, in the order given, each pin's tables folded; cut where it would not be taken."""
    blocks = [MARK]
    for found in all_found:
        blocks += [
            f"**{page.escaped(headline(found))}**",
            "\n".join(map(page.bullet, lines(found))),
            *map(page.markdown, sections(found)),
        ]
    return _fitting(blocks) + "\n"


def headline(found: Checked) -> str:
    place = f"{found.pin}: " if found.pin else ""
    return clean(f"{place}{found.answer.value}: {found.sentence}")


def _fitting(blocks: Sequence[str]) -> str:
    cut = "\n\nWhat is left out here: the same command with `--json`."
    kept: list[str] = []
    room = MOST_BYTES - len(cut)
    for block in blocks:
        room -= len(block.encode()) + 2
        if room < 0:
            return "\n\n".join(kept) + cut
        kept.append(block)
    return "\n\n".join(kept)


def lines(found: Checked) -> Iterator[tuple[str, str]]:
    yield "rests on", found.ground.value + (f", run {found.run}" if found.run else "")
    if found.glance:
        yield "one time", _glance(found.glance)
    if found.next:
        yield "decision", _next(found.next) + (", and the pin was written anew" if found.written else "")
    yield "holds for", found.scope
    yield from (("note", note) for note in found.notes)
    for issue in found.fast.issues:
        yield "known", f"{BEARINGS[issue.bearing]}: {issue.what}: {issue.why} ({' '.join(issue.sources)})"
    yield from ((WAY_OUT, way) for way in found.ways_out)


def _glance(each: Glance) -> str:
    then, now = numbers.microseconds(each.old_us), numbers.microseconds(each.new_us)
    return f"{each.arm} on {each.cell}, alone in one process: {now} today, {then} when the pin was made"


def _next(coming: Next) -> str:
    flags = wording.flags(coming.flags) or ("no flag set" if coming.action is Action.KEEP else "")
    return f"{ACTIONS[coming.action]} {flags}".rstrip() + f", because {wording.unset(coming.because)}"


def sections(found: Checked) -> Iterator[Section]:
    if found.fast.changes:
        yield Section("What changed", (change_table(found.fast),))
    if found.served or found.rivals:
        rows = [*(_row(found, row) for row in found.served), *(_row(found, row, " (rival)") for row in found.rivals)]
        yield Section("Today against the pin", (Table(HEADER, tuple(rows)), LEGEND))
    if found.confirmed:
        pairs = tuple(_row(found, row) for row in found.confirmed.rows if row.cell)
        yield Section("Both versions in one sitting", (Table(HEADER, pairs), PAIRS))
    if found.broken:
        yield Section("Not to be had any more", tuple(_lost(found.broken)))
    if found.dispatches:
        yield Section("Which code runs", tuple(dispatch.sentences(found.dispatches)))


def _lost(broken: Iterable[Broken]) -> Iterator[str]:
    """One sentence for all cells on which an arm ended alike."""
    cells: dict[tuple[str, str, str], list[str]] = {}
    for each in broken:
        cells.setdefault((each.arm, each.outcome.value, each.detail), []).append(each.cell)
    yield from (f"{arm} on {', '.join(names)}: {outcome}: {detail}" for (arm, outcome, detail), names in cells.items())


def _row(found: Checked, row: Row, part: str = "") -> tuple[str, ...]:
    its = row.verdict.numbers
    label = row.verdict.label.value + (f": {WHY[row.verdict.why]}" if row.verdict.why else "") + (" (control)" if row.control else part)
    shown = (*times(row), interval(row))
    return row.arm, row.cell or TOGETHER, *shown, label, _kernels(found, row), str(its.rounds), numbers.percent(its.minimum_detectable)


def _kernels(found: Checked, row: Row) -> str:
    """Empty where nothing touches the arm, and for all cells together."""
    its = next((each for each in found.dispatches if (each.arm, each.cell) == (row.arm, row.cell)), None)
    if its is None:
        return ""
    if its.kernels is not None or its.before != its.after or its.code is False:
        return "changed"
    return "same" if its.code else "not told"
