"""Time of a call against context, against batch, and against both: the context of all requests together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from backends.cell import Cell, Phase
from reports import measured, numbers
from reports.page import Table
from reports.web import ink
from reports.web.page import Plot
from reports.web.processes import Times
from reports.web.rows import is_wide, plain_ticks
from reports.web.series import Series
from store.decision import CellResult, Decision
from store.runs.run import Run

HEIGHT_INCHES = 3.4
HEADER = ("cell", "requests", "context, mean", "longest", "of all", "arm", "time", "lowest and highest process")
LEAD = "One mark an arm and cell, the arms of a cell side by side; bars reach from the lowest to the highest fresh process."
DODGE_POINTS = 5.0
MARGIN = 0.08


@dataclass(frozen=True)
class _Way:
    """What time is drawn against."""

    id: str
    title: str
    label: str
    of: Callable[[Cell], float]


def mean_context(cell: Cell) -> float:
    return fmean(cell.context_lens)


WAYS = (
    _Way("context", "against context", "mean context of a request, tokens", mean_context),
    _Way("batch", "against batch", "requests in the batch", lambda cell: cell.batch),
    _Way("keys", "against all context", "context of all requests, tokens", lambda cell: sum(cell.context_lens)),
)


def plots(run: Run, decision: Decision, times: Times, series: Series) -> tuple[Plot, ...]:
    """Three a phase and mode: a graph replay and an eager launch never stand in one."""
    cells = {weighted.cell.name: weighted.cell for weighted in run.cells}
    found: list[Plot] = []
    for phase in Phase:
        for mode in measured.MODES:
            results = measured.results_of(run, decision, phase, mode)
            if results:
                table = Table(HEADER, tuple(_row(result, cells[result.cell], times) for result in results))
                first, *others = (_plot(way, phase, mode, results, cells, times, series) for way in WAYS)
                found += [replace(first, table=table), *others]
    return tuple(found)


def _plot(way: _Way, phase: Phase, mode: str, results: Sequence[CellResult], cells: dict[str, Cell], times: Times, series: Series) -> Plot:
    title = f"{phase.value.capitalize()} {way.title}, {mode}"

    def draw(axes: Any) -> None:
        arms = sorted({result.arm for result in results}, key=series.names.index)
        for result in results:
            aside = DODGE_POINTS * (arms.index(result.arm) - (len(arms) - 1) / 2)
            _mark(axes, way.of(cells[result.cell]), result, times, series, aside)
        axes.set(xlabel=way.label, ylabel="time of one call, us")
        _stretch(axes, "x", [way.of(cells[result.cell]) for result in results])
        _stretch(axes, "y", [us for result in results for us in (result.median_us, *_ends(result, times))])
        axes.grid()

    svg = ink.drawn(f"time-{phase.value}-{mode}-{way.id}", f"Scatter plot: {title}", HEIGHT_INCHES, draw)
    return Plot(title, f"{measured.MODES[mode]}.", svg)


def _stretch(axes: Any, which: str, values: Sequence[float]) -> None:
    """Over all of ``values``, with some room at either end."""
    low, high, log = min(values), max(values), is_wide(values)
    if low == high:
        axes.set(**{f"{which}lim": (0.5 * low, 1.5 * low), f"{which}ticks": [low]})
        return
    room = (high / low) ** MARGIN if log else MARGIN * (high - low)
    ends = (low / room, high * room) if log else (low - room, high + room)
    axes.set(**{f"{which}scale": "log" if log else "linear", f"{which}lim": ends})
    plain_ticks(getattr(axes, f"{which}axis"), log)


def _mark(axes: Any, x: float, result: CellResult, times: Times, series: Series, aside_points: float) -> None:
    from matplotlib.transforms import ScaledTranslation

    place = axes.transData + ScaledTranslation(aside_points / 72, 0, axes.figure.dpi_scale_trans)
    colour, mark = series.colour(result.arm), series.mark(result.arm)
    axes.plot([x, x], _ends(result, times), color=colour, linewidth=1.8, transform=place)
    axes.plot([x], [result.median_us], mark, color=colour, markeredgecolor=ink.PAPER, markeredgewidth=0.6, transform=place)


def _ends(result: CellResult, times: Times) -> tuple[float, float]:
    spread = times.get((result.arm, result.cell), (result.median_us,))
    return min(spread), max(spread)


def _row(result: CellResult, cell: Cell, times: Times) -> tuple[str, ...]:
    spread = times.get((result.arm, result.cell))
    ends = f"{numbers.microseconds(min(spread))} to {numbers.microseconds(max(spread))}" if spread else ""
    lengths = (f"{mean_context(cell):.0f}", f"{max(cell.context_lens)}", f"{sum(cell.context_lens)}")
    return result.cell, f"{cell.batch}", *lengths, result.arm, numbers.microseconds(result.median_us), ends
