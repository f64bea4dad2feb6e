"""A table fitted to a width: the widest columns give way, and cells go on below their first line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap

from reports.page import COLUMN_GAP, Table, clean

TERMINAL = 100


def fitted_table(table: Table, indent: str = "  ", width: int = TERMINAL) -> str:
    """Aligned columns on lines of at most ``width`` characters, a longer word excepted; no line ends in blanks."""
    lines = [tuple(clean(cell) for cell in line) for line in (table.header, *table.rows)]
    widths = _shrunk([max(map(len, column)) for column in zip(*lines)], _least(lines), width - len(indent))
    return "\n".join(indent + text for line in lines for text in _folded(line, widths))


def _least(lines: Sequence[tuple[str, ...]]) -> list[int]:
    """The longest word of each column: it is never broken."""
    return [max(len(word) for cell in column for word in (*cell.split(), "")) for column in zip(*lines)]


def _shrunk(widths: list[int], least: list[int], room: int) -> list[int]:
    """``widths`` less what the widest columns can give up."""
    widths = list(widths)
    while sum(widths) + len(COLUMN_GAP) * (len(widths) - 1) > room:
        loose = [index for index, width in enumerate(widths) if width > least[index]]
        if not loose:
            break
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _folded(line: tuple[str, ...], widths: Sequence[int]) -> list[str]:
    cells = [wrap(cell, width, break_long_words=False, break_on_hyphens=False) for cell, width in zip(line, widths)]
    rows = zip_longest(*cells, fillvalue="")
    return [COLUMN_GAP.join(map(str.ljust, row, widths)).rstrip() for row in rows]
