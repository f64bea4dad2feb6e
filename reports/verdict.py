"""What a check found, for a terminal or for a program."""

from __future__ import annotations

from collections.abc import Iterator

from backends.wire import to_plain
from reports.json_line import json_line
from reports.page import Table, clean, one_line, text_table
from store.verdicts.verdict import Bearing, Change, FlagsNow, KnownIssue, Served, Verdict

HEADER = ("what", "was", "is", "touches")
ABSENT = "absent"
BEARINGS = {
    Bearing.SERVED: "known issue, on what is served",
    Bearing.POSSIBLE: "known issue, perhaps on what is served",
    Bearing.RIVAL: "known issue, on an arm that the pin was decided against",
}


def render_text(verdict: Verdict) -> str:
    """The verdict in a line, what the pin is of, then one line a change, the flags, what is known, and the command to run: that one and
    the pin's file as they are, since they are to be typed."""
    place = f"{one_line(verdict.pin)}: " if verdict.pin else ""
    lines = [f"{place}{verdict.status.value}: {clean(verdict.sentence)}"]
    changes = [text_table(change_table(verdict))] if verdict.changes else []
    next_ = [f"  next: {one_line(verdict.command)}"] if verdict.command else []
    return "\n".join([*lines, *map(_indented, _about(verdict)), *changes, *map(_indented, _below(verdict)), *next_]) + "\n"


def _about(verdict: Verdict) -> Iterator[str]:
    if verdict.about:
        yield f"pin of {verdict.about}"


def _below(verdict: Verdict) -> Iterator[str]:
    if verdict.flags is not None:
        yield f"flags: {flags_line(verdict.flags)}"
    for issue in verdict.issues:
        yield from _issue(issue)


def _issue(issue: KnownIssue) -> Iterator[str]:
    yield f"{BEARINGS[issue.bearing]}: {issue.what}: {issue.why}"
    yield from (f"  way out: {way}" for way in issue.ways_out)
    yield from (f"  source: {source}" for source in issue.sources)


def _indented(line: str) -> str:
    depth = len(line) - len(line.lstrip())
    return f"  {' ' * depth}{clean(line)}"


def change_table(verdict: Verdict) -> Table:
    return Table(HEADER, tuple(map(_row, verdict.changes)))


def _row(change: Change) -> tuple[str, ...]:
    return change.what, change.before or ABSENT, change.after or ABSENT, ", ".join(change.touches)


def flags_line(flags: FlagsNow) -> str:
    """What they come to, whether that is what was pinned, and whose word it is."""
    if flags.unknown is not None:
        return f"{flags.unknown} ({flags.by})"
    if flags.refusal is not None:
        return f'refused: "{flags.refusal}" ({flags.by})'
    as_pinned = "as pinned" if flags.hold else f"pinned for {in_words(flags.pinned)}"
    return f"{in_words(flags.now or flags.pinned)}, {as_pinned} ({flags.by})"


def in_words(served: Served) -> str:
    """ "fa3, page size 1, KV dtype bfloat16"; both phases by name where they differ."""
    backends = served.decode if served.prefill == served.decode else f"prefill {served.prefill}, decode {served.decode}"
    return f"{backends}, page size {served.page_size}, KV dtype {served.kv_cache_dtype}"


def render_json(verdict: Verdict) -> str:
    """The record's own fields on one line; null where a thing was or is absent, or was not asked."""
    return json_line(to_plain(verdict))
