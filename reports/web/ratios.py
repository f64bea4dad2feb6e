"""Winners and margins: every arm against the default on each cell, and what is no difference shown as none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from backends.cell import Phase
from reports import measured, numbers, wording
from reports.page import Section, Table
from reports.web.page import Plot
from reports.web.rows import Axis, Mark, is_wide, svg
from reports.web.series import Series
from store.decision import CellResult, Decision, Interval
from store.runs.run import Run

PLOT_HEADER = ("cell", "arm", "ratio to the default", "that is")
WINNERS_HEADER = ("cell", "tokens", "mode", "fastest", "time", "against", "ratio, fastest / other", "margin")
NOTHING, ONE_PROCESS = "nothing to compare with", "one process: not sure"


class Standing(str, Enum):
    """Of an arm against the default on one cell."""

    FASTER = "faster"
    SLOWER = "slower"
    TIE = "tie"
    OPEN = "not told apart"

    @property
    def sure(self) -> bool:
        return self in (Standing.FASTER, Standing.SLOWER)


def standing(ratio: Interval, tie_margin: float) -> Standing:
    """A tie: the whole interval lies within the margin, or is too wide to say."""
    if 1 - tie_margin <= ratio.low and ratio.high <= 1 + tie_margin:
        return Standing.TIE
    if ratio.high < 1:
        return Standing.FASTER
    return Standing.SLOWER if ratio.low > 1 else Standing.OPEN


def plots(run: Run, decision: Decision, series: Series) -> tuple[Plot, ...]:
    """One a phase in which anything was compared."""
    return tuple(plot for phase in Phase if (plot := _plot(run, decision, phase, series)) is not None)


def _plot(run: Run, decision: Decision, phase: Phase, series: Series) -> Plot | None:
    margin = run.scenario.decide.tie_margin
    results = [one for mode in measured.MODES for one in measured.results_of(run, decision, phase, mode)]
    compared = [(one, one.ratio) for one in results if one.ratio is not None]
    if not compared:
        return None
    marks = [Mark(one.cell, one.arm, ratio.estimate, ratio.low, ratio.high, standing(ratio, margin).sure) for one, ratio in compared]
    ends = [end for mark in marks for end in (mark.low, mark.high)]
    wide = min(ends) > 0 and is_wide([*ends, 1.0])
    axis = Axis("ratio to the default; to the right is slower", at=1.0, band=(1 - margin, 1 + margin), log=wide)
    title = f"{phase.value.capitalize()} against the default"
    drawn = svg(f"ratios-{phase.value}", f"Interval plot: {title}", marks, axis, series)
    rows = tuple((one.cell, one.arm, numbers.interval(ratio), standing(ratio, margin).value) for one, ratio in compared)
    note = f"Intervals are of {numbers.level(compared[0][1].confidence)}."
    return Plot(title, note, drawn, Table(PLOT_HEADER, rows))


def lead(run: Run, plots: tuple[Plot, ...]) -> str:
    if not plots:
        return "No two processes timed an arm beside the default, so there is no interval to draw."
    margin = numbers.percent(run.scenario.decide.tie_margin)
    return f"The dashed line is the default; within the band, {margin} either way, is a tie. A hollow mark: a tie, or not told apart."


def winners(run: Run, decision: Decision) -> Section | None:
    """The fastest arm of every cell against the nearest that its ratio is known to."""
    rows = tuple(row for phase in Phase for mode in measured.MODES for row in _winners(run, decision, phase, mode))
    return Section("Fastest arm of each cell", (Table(WINNERS_HEADER, rows),)) if rows else None


def _winners(run: Run, decision: Decision, phase: Phase, mode: str) -> Iterator[tuple[str, ...]]:
    shares = {weighted.cell.name: wording.share(weighted) for weighted in run.cells}
    results = measured.results_of(run, decision, phase, mode)
    for cell in dict.fromkeys(result.cell for result in results):
        fastest, *others = [result for result in results if result.cell == cell]
        head = (cell, shares[cell], mode)
        default = decision.default.of(phase) if decision.default else None
        yield (*head, *_against(fastest, others, default, run.scenario.decide.tie_margin))


def _against(fastest: CellResult, others: list[CellResult], default: str | None, margin: float) -> tuple[str, ...]:
    """Ratios are known to ``default`` alone: where that is the fastest, of the nearest arm that has one."""
    time = numbers.microseconds(fastest.median_us)
    if fastest.ratio is not None and default is not None:
        return _row(fastest.arm, time, default, fastest.ratio, margin)
    compared = [(other, other.ratio) for other in others if other.ratio is not None]
    if fastest.arm != default or not compared:
        return fastest.arm, time, *_unsure(others if fastest.arm == default else ())
    other, ratio = compared[0]
    turned = Interval(1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low, ratio.confidence, ratio.processes) if ratio.low > 0 else ratio
    return _row(fastest.arm, time, other.arm, turned, margin)


def _unsure(others: Iterable[CellResult]) -> tuple[str, str, str]:
    """Of the nearest arm that one process alone timed beside the default."""
    lone = next(((other.arm, other.lone_ratio) for other in others if other.lone_ratio), None)
    return (lone[0], f"{measured.ABOUT} {numbers.ratio(1 / lone[1])}", ONE_PROCESS) if lone else ("", "", NOTHING)


def _row(fastest: str, time: str, other: str, ratio: Interval, margin: float) -> tuple[str, ...]:
    """Where the two are not surely apart, both are the fastest."""
    found = standing(ratio, margin)
    who = fastest if found.sure else f"{fastest} or {other}"
    said = numbers.change_range(ratio.low - 1, ratio.high - 1) if found.sure else found.value
    return who, time, other, numbers.interval(ratio), said
