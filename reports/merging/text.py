"""A text and the cuts made in it: where lines begin and end, and how a scalar of some style is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ruamel.yaml.nodes import Node, ScalarNode

from reports.launchers.mark import is_mark, scalar
from reports.merging.errors import MergeError

WORD = re.compile(r"--[a-z][a-z-]*(=[\w.-]+)?", re.ASCII)


@dataclass(frozen=True)
class Edit:
    """``text`` in place of the characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str

    def moved(self, by: int) -> Edit:
        return Edit(self.start + by, self.end + by, self.text)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Edits do not overlap; of several at one place the first given comes first."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def line_end(text: str, index: int) -> int:
    """Of the line that the character before ``index`` is on, behind its line end."""
    if index > 0 and text[index - 1] == "\n":
        return index
    found = text.find("\n", index)
    return len(text) if found < 0 else found + 1


def indent(text: str, index: int) -> str:
    """As many blanks as stand before ``index`` on its line, whatever stands there."""
    return " " * (index - line_start(text, index))


def added(text: str, at: int, lines: Iterable[str]) -> Edit:
    """Whole lines at ``at``, which is a line's beginning, or the end of a text that lacks its last line end."""
    end = newline(text)
    lines = list(lines)
    missing = end if lines and at > 0 and text[at - 1] != "\n" else ""
    return Edit(at, at, missing + "".join(line + end for line in lines))


def mark_above(text: str, node: Node, value: str) -> Edit | None:
    """An edit that takes away the line above ``node`` where it says that attnpin set ``value``; None where it does not."""
    end = line_start(text, node.start_mark.index)
    start = line_start(text, max(end - 1, 0))
    line = text[start:end].strip()
    return Edit(start, end, "") if line.startswith("#") and is_mark(line.removeprefix("#"), value) else None


def rewritten(text: str, node: ScalarNode, value: str, plain: str) -> Edit:
    """``value`` in the quotes that the scalar had; ``plain`` is how it is written where there were none. Raises `MergeError` for a
    scalar that is more than a value on its line."""
    start, end, style = node.start_mark.index, node.end_mark.index, node.style or ""
    lone = text[line_start(text, start) : start].isspace()
    if start == end or style in ("|", ">") or text[start] in "&!" or lone:
        raise MergeError(f"has {node.value!r:.40} empty, in lines of its own, or with an anchor or a tag; write it plainly beside its key")
    quotes = {"'": "'" + value.replace("'", "''") + "'", '"': json.dumps(value)}
    return Edit(start, end, json.dumps(value) if style and not value.isprintable() else quotes.get(style, plain))


def word(value: str) -> str:
    """``value`` so that YAML reads it as text, a number too."""
    return value if WORD.fullmatch(value) else json.dumps(value) if value.isdigit() else scalar(value)
