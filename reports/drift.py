"""Where an engine's documentation, its docstrings and its code differ: for a terminal, as Markdown, as data."""

from __future__ import annotations

from collections.abc import Sequence

from backends.wire import to_plain
from reports.columns import fitted_table
from reports.json_line import json_line
from reports.page import Table, escaped, markdown_table
from reports.wording import count
from store.engines.drift import Drift, Said

ELSEWHERE = "Where each was read: --json or --md."
DOCUMENTATION = "Documentation: docs_new/.../attention_backend.mdx of sgl-project/sglang at 01d8520."
COLUMNS = ("what", "documentation", "docstring, help or message", "code")


def render_text(found: Sequence[Drift], rules: str) -> str:
    """On lines of at most 100 characters."""
    rows = tuple((one.cell, _says(one.docs), _says(one.docstring), one.code.says) for one in found)
    return "\n\n".join([heading(found, rules), fitted_table(Table(COLUMNS, rows)), DOCUMENTATION, ELSEWHERE]) + "\n"


def render_markdown(found: Sequence[Drift], rules: str) -> str:
    rows = tuple((one.cell, _with_place(one.docs), _with_place(one.docstring), _with_place(one.code)) for one in found)
    return "\n\n".join([f"# {escaped(heading(found, rules))}", escaped(DOCUMENTATION), markdown_table(Table(COLUMNS, rows))]) + "\n"


def render_json(found: Sequence[Drift], rules: str) -> str:
    return json_line({"rules": rules, "drift": [to_plain(one) for one in found]})


def heading(found: Sequence[Drift], rules: str) -> str:
    return f"SGLang {rules}: {count(len(found), 'cell')} in which documentation, docstrings and code differ"


def _says(said: Said | None) -> str:
    return "" if said is None else said.says


def _with_place(said: Said | None) -> str:
    return "" if said is None else f"{said.says} ({said.where})"


RENDER = {"text": render_text, "markdown": render_markdown, "json": render_json}
