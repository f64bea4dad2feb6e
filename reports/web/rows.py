"""Plots whose rows are cells and whose marks are arms: a value each, an interval where one is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reports.page import clean
from reports.web import ink
from reports.web.series import Series

ROW_INCHES, FRAME_INCHES = 0.21, 0.85
APART = 0.8  # of a row's height is taken by its arms
WIDE = 3.0  # from this ratio of largest to smallest on, an axis is logarithmic
LINE_WIDTH = 1.8
KILO, MEGA = 10_000, 1_000_000
LOG_TICKS = ((500.0, (1.0,)), (20.0, (1.0, 3.0)), (8.0, (1.0, 2.0, 5.0)), (0.0, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))  # above a reach


@dataclass(frozen=True)
class Mark:
    """``filled`` False: a hollow mark, for what is no difference. ``value`` and its ends have the axis' unit."""

    row: str
    name: str
    value: float
    low: float
    high: float
    filled: bool = True


@dataclass(frozen=True)
class Axis:
    """``at``: where a line marks the value that everything is held against; ``band``: what is as good as it. ``unit`` follows a tick."""

    label: str
    at: float | None = None
    band: tuple[float, float] | None = None
    log: bool = False
    limits: tuple[float, float] | None = None
    unit: str = ""


def svg(name: str, label: str, marks: Sequence[Mark], axis: Axis, series: Series) -> str:
    """One row each ``Mark.row``, the first on top; raises ImportError without matplotlib."""
    rows = list(dict.fromkeys(mark.row for mark in marks))
    most = max(len({mark.name for mark in marks if mark.row == row}) for row in rows)
    height = FRAME_INCHES + ROW_INCHES * len(rows) * max(1.6, most)

    def draw(axes: Any) -> None:
        for mark in marks:
            _draw_mark(axes, mark, _height(mark, marks, rows), series)
        _frame(axes, axis)
        axes.set_yticks([-index for index in range(len(rows))], [ink.short(clean(row)) for row in rows])
        axes.set_ylim(-len(rows) + 0.45, 0.55)
        axes.tick_params(axis="y", length=0)

    return ink.drawn(name, label, height, draw)


def _height(mark: Mark, marks: Sequence[Mark], rows: list[str]) -> float:
    names = list(dict.fromkeys(each.name for each in marks if each.row == mark.row))
    step = APART / len(names)
    return -rows.index(mark.row) + APART / 2 - step * (names.index(mark.name) + 0.5)


def _draw_mark(axes: Any, mark: Mark, y: float, series: Series) -> None:
    colour = series.colour(mark.name)
    axes.plot([mark.low, mark.high], [y, y], color=colour, linewidth=LINE_WIDTH, solid_capstyle="round")
    face = colour if mark.filled else ink.PAPER
    axes.plot([mark.value], [y], series.mark(mark.name), color=colour, markerfacecolor=face, markeredgewidth=1.4)


def _frame(axes: Any, axis: Axis) -> None:
    if axis.log:
        axes.set_xscale("log")
    if axis.limits is not None:
        axes.set_xlim(*axis.limits)
    if axis.band is not None:
        axes.axvspan(*axis.band, color=ink.BAND, linewidth=0, zorder=0)
    if axis.at is not None:
        axes.axvline(axis.at, color=ink.MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=0.5)
    axes.set_xlabel(axis.label, loc="right")  # so that it has the room below the rows' names too
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    plain_ticks(axes.xaxis, axis.log, axis.unit)


def plain_ticks(axis: Any, log: bool, unit: str = "") -> None:
    """Few, and in digits: 0.5, 20, 4000, 30k, 2M. A logarithmic axis says so in its label."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value, unit)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(NullLocator())
    low, high = axis.get_view_interval()
    if not log:
        axis.set_major_locator(MaxNLocator(5))
        return
    axis.set_major_locator(LogLocator(subs=next(subs for reach, subs in LOG_TICKS if high / low > reach)))
    axis.set_label_text(f"{axis.get_label_text()} (log)")


def tick(value: float, unit: str = "") -> str:
    if value >= MEGA:
        return f"{value / MEGA:.4g}M"
    return f"{value / 1000:.4g}k" if value >= KILO else f"{value:.10g}{unit}"


def is_wide(values: Sequence[float]) -> bool:
    return max(values) > WIDE * min(values)
