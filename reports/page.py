"""A report before it has a dress: sections of sentences, commands and tables, drawn as plain text or as Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from store.evidence.scrub import without_paths

MARKDOWN_SPECIAL = str.maketrans({"|": "\\|", "\\": "&#92;", "&": "&amp;", "<": "&lt;", ">": "&gt;", "*": "\\*", "`": "\\`"})
LEADING_UNDERSCORE = re.compile(r"(?<!\w)_")
COLUMN_GAP = "  "


@dataclass(frozen=True)
class Table:
    """``rows`` are as long as ``header``; an empty cell is "" (nothing known) and never a made-up value."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Command:
    """A line to be typed."""

    line: str


@dataclass(frozen=True)
class Section:
    title: str
    body: tuple[str | Command | Table, ...]


def one_line(text: str) -> str:
    """``text`` on one line: every run of blanks, line ends and unprintable characters becomes one space."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def clean(text: str) -> str:
    """One line without absolute paths: what every word from a record goes through before it is shown."""
    return without_paths(one_line(text))


def text(section: Section) -> str:
    """The section for a terminal: a title, sentences, aligned tables."""
    return "\n".join([section.title, *(_text_part(part) for part in section.body)])


def _text_part(part: str | Command | Table) -> str:
    if isinstance(part, Table):
        return text_table(part)
    return f"  {part.line}" if isinstance(part, Command) else f"  {clean(part)}"


def text_table(table: Table, indent: str = "  ") -> str:
    """Columns padded to their widest cell, no line ends in blanks."""
    lines = [tuple(clean(cell) for cell in line) for line in (table.header, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(indent + COLUMN_GAP.join(map(str.ljust, line, widths)).rstrip() for line in lines)


def markdown(section: Section) -> str:
    """The section folded, so that a page of them opens with their titles alone."""
    return "\n\n".join([f"<details><summary>{escaped(section.title)}</summary>", *map(_markdown_part, section.body), "</details>"])


def escaped(part: str) -> str:
    """A record's words as Markdown shows them unchanged."""
    return LEADING_UNDERSCORE.sub(r"\_", clean(part).translate(MARKDOWN_SPECIAL))


def bullet(line: tuple[str, str]) -> str:
    label, sentence = line
    return f"- **{label}**: {escaped(sentence)}"


def _markdown_part(part: str | Command | Table) -> str:
    if isinstance(part, Table):
        return markdown_table(part)
    return f"```sh\n{part.line}\n```" if isinstance(part, Command) else escaped(part)


def markdown_table(table: Table) -> str:
    lines = [table.header, ("---",) * len(table.header), *table.rows]
    return "\n".join(f"| {' | '.join(map(escaped, line))} |" for line in lines)
