"""Verdicts on arms and cells as one plot: the new time by the old one, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reports.page import Table
from reports.verdict_row import interval
from reports.web.page import Plot
from reports.web.rows import Axis, Mark, is_wide, svg
from reports.web.series import Series
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import Row

TOGETHER = "all cells"
NOTE = "Within the band a difference is nobody's business. Hollow: equivalent, or not told apart."


def ratio_plot(name: str, title: str, sides: str, rows: Sequence[Row], series: Series) -> Plot:
    """``sides``: what is divided by what, "candidate / baseline". Raises ImportError without matplotlib."""
    marks = [_mark(row) for row in rows]
    margin = math.exp(rows[0].verdict.numbers.margin)
    wide = is_wide([1.0, *(end for mark in marks for end in (mark.low, mark.high))])
    axis = Axis(f"{sides}; to the right is slower", at=1.0, band=(1 / margin, margin), log=wide)
    drawn = svg(name, f"Interval plot: {title}, {sides}, of every arm and cell", marks, axis, series)
    said = tuple((row.arm, row.cell or TOGETHER, interval(row), row.verdict.label.value) for row in rows)
    return Plot(title, NOTE, drawn, Table(("arm", "cell", f"ratio, {sides}", "verdict"), said))


def _mark(row: Row) -> Mark:
    found = row.verdict.numbers
    sure = row.verdict.label in (Label.REGRESSED, Label.IMPROVED)
    return Mark(row.cell or TOGETHER, row.arm, math.exp(found.estimate), math.exp(found.low), math.exp(found.high), sure)
