"""One run as a long report, from the store or from a pin's evidence: both give the same text."""

from __future__ import annotations

from backends.wire import to_plain
from reports import details, headline, page, wording
from reports.json_line import json_line
from store.runs.run import Run


def render_text(run: Run) -> str:
    answer = headline.lines(run)
    width = max(len(label) for label, _ in answer)
    lines = [heading(run), *(f"  {label:<{width}}  {page.clean(sentence)}" for label, sentence in answer)]
    return "\n\n".join(["\n".join(lines), *map(page.text, details.sections(run))]) + "\n"


def render_markdown(run: Run) -> str:
    lines = [f"# {page.escaped(heading(run))}", "", *map(page.bullet, headline.lines(run))]
    return "\n\n".join(["\n".join(lines), *map(page.markdown, details.sections(run))]) + "\n"


def render_json(run: Run) -> str:
    """The record's own fields."""
    return json_line(to_plain(run))


def heading(run: Run) -> str:
    return f"{wording.title(run)}: run {run.id}, {wording.status(run.status)}"
