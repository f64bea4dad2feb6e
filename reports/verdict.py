"""What a check found, for a terminal or for a program."""

from __future__ import annotations

import json

from backends.wire import to_plain
from reports.page import Table, clean, text_table
from store.verdict import Change, Verdict

HEADER = ("what", "was", "is", "touches")
ABSENT = "absent"


def render_text(verdict: Verdict) -> str:
    """The verdict in a line, then one line a change."""
    lines = [f"{verdict.status.value}: {clean(verdict.sentence)}"]
    changes = [text_table(Table(HEADER, tuple(map(_row, verdict.changes))))] if verdict.changes else []
    return "\n".join([*lines, *changes]) + "\n"


def _row(change: Change) -> tuple[str, ...]:
    return change.what, change.before or ABSENT, change.after or ABSENT, ", ".join(change.touches)


def render_json(verdict: Verdict) -> str:
    """The record's own fields; null where a thing was or is absent."""
    return json.dumps(to_plain(verdict), indent=2) + "\n"
