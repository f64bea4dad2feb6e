"""Verdicts as a comment on a pull request: the gravest first, short enough to be posted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reports import wording
from reports.page import Command, Section, Table, clean, escaped, markdown, markdown_table
from reports.verdict import BEARINGS, change_table, flags_line
from store.verdicts.verdict import Status, Verdict

MARK = "<!-- attnpin check -->"  # by which a workflow finds its own comment again
IN_ITS_ROW = (Status.UNCHANGED, Status.UNREADABLE)  # all that is to be said of it
MOST_BYTES = 60_000  # GitHub takes 65,536 characters
GRAVEST_FIRST = (Status.UNREADABLE, Status.REFUSED, Status.KNOWN_BAD, Status.INCOMPARABLE, Status.CHANGED, Status.UNCHANGED)
ANSWERS = {
    Status.UNREADABLE: "cannot be judged",
    Status.REFUSED: "do not ship it with this pin",
    Status.KNOWN_BAD: "do not ship it with this pin",
    Status.INCOMPARABLE: "says nothing here",
    Status.CHANGED: "measure before you ship",
    Status.UNCHANGED: "holds as measured",
}


def render_markdown(verdicts: Sequence[Verdict]) -> str:
    """Heading, one row a pin, then each pin of which there is more to say, folded. What does not fit into `MOST_BYTES` is counted."""
    ordered = sorted(verdicts, key=lambda verdict: GRAVEST_FIRST.index(verdict.status))
    parts = [MARK, f"### {headline(ordered)}"]
    rows = _fitting([_row(verdict) for verdict in ordered], MOST_BYTES // 2)
    parts.append(markdown_table(Table(("pin", "answer", "why"), tuple(rows))))
    details = [_details(verdict) for verdict in ordered if verdict.status not in IN_ITS_ROW]
    return "\n\n".join([*parts, *_shown(details, MOST_BYTES - _size("\n\n".join(parts)), len(ordered) - len(rows))]) + "\n"


def headline(ordered: Sequence[Verdict]) -> str:
    """The gravest answer and how many pins it is of."""
    counts = Counter(verdict.status for verdict in ordered)
    said = [f"{wording.count(counts[status], 'pin')} {status.value}" for status in GRAVEST_FIRST if counts[status]]
    return f"Attention pins: {ANSWERS[ordered[0].status]} ({', '.join(said)})"


def _row(verdict: Verdict) -> tuple[str, ...]:
    return verdict.pin or "the pin", f"{verdict.status.value}: {ANSWERS[verdict.status]}", verdict.sentence


def _fitting(rows: Sequence[tuple[str, ...]], most_bytes: int) -> list[tuple[str, ...]]:
    kept: list[tuple[str, ...]] = []
    for row in rows:
        most_bytes -= _size(" | ".join(map(escaped, row))) + 8
        if most_bytes < 0 and kept:
            break
        kept.append(tuple(part[:2000] for part in row))
    return kept


def _shown(details: Sequence[str], room: int, rows_left_out: int) -> list[str]:
    """As many of ``details`` as fit, and how many more there are."""
    shown: list[str] = []
    for detail in details:
        room -= _size(detail) + 2
        if room < 200:
            break
        shown.append(detail)
    left_out = len(details) - len(shown)
    if not left_out and not rows_left_out:
        return shown
    return [*shown, f"{wording.count(left_out, 'pin')} more in full, and {wording.count(rows_left_out, 'row')} more above, with `--json`."]


def _details(verdict: Verdict) -> str:
    body: list[str | Command | Table] = [verdict.about] if verdict.about else []
    if verdict.changes:
        body.append(change_table(verdict))
    if verdict.flags is not None:
        body.append(f"Flags: {flags_line(verdict.flags)}")
    for issue in verdict.issues:
        heading = BEARINGS[issue.bearing]
        body += [f"{heading[0].upper()}{heading[1:]}: {issue.what}: {issue.why}", *(f"Way out: {way}" for way in issue.ways_out)]
        body.append(f"Source: {' '.join(issue.sources)}")
    if verdict.command:
        body.append(Command(clean(verdict.command)))
    return markdown(Section(f"{verdict.pin or 'the pin'}: {verdict.status.value}", tuple(body)))


def _size(text: str) -> int:
    return len(text.encode()) + 2
