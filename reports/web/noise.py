"""How far the processes lay apart, and what watched over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from backends.cell import Phase
from backends.measured import CellRound
from reports import numbers
from reports.page import Section, Table
from reports.web.page import Plot
from reports.web.processes import Times, deviations
from reports.web.rows import Axis, Mark, svg
from reports.web.series import Series
from store.runs.run import Run

HEADER = ("cell", "arm", "processes", "lowest to highest, of its mean")
GUARDS = ("cell", "clocks settled", "timed again", "SM clock", "temperature", "power")


def plots(run: Run, times: Times, series: Series) -> tuple[Plot, ...]:
    """One a phase, each process as a mark; none below two processes."""
    return tuple(plot for phase in Phase if (plot := _plot(run, phase, times, series)) is not None)


def _plot(run: Run, phase: Phase, times: Times, series: Series) -> Plot | None:
    cells = [weighted.cell.name for weighted in run.cells if weighted.cell.phase is phase]
    keys = [(cell, arm) for cell in cells for arm in series.names if len(times.get((arm, cell), ())) > 1]
    if not keys:
        return None
    marks = [mark for cell, arm in keys for mark in _marks(cell, arm, times)]
    axis = Axis("off the mean of the arm's processes", at=0.0, unit=" %")
    title = f"{phase.value.capitalize()}, from process to process"
    drawn = svg(f"noise-{phase.value}", f"Dot plot: {title}", marks, axis, series)
    rows = tuple(_row(cell, arm, times) for cell, arm in keys)
    return Plot(title, "One mark a fresh process; the dashed line is their mean.", drawn, Table(HEADER, rows))


def _marks(cell: str, arm: str, times: Times) -> Iterator[Mark]:
    found = [100 * each for each in deviations(times[arm, cell])]
    yield from (Mark(cell, arm, each, min(found), max(found)) for each in found)


def _row(cell: str, arm: str, times: Times) -> tuple[str, ...]:
    found = deviations(times[arm, cell])
    return cell, arm, f"{len(found)}", f"{numbers.percent(min(found))} to {numbers.percent(max(found))}"


def guards(run: Run) -> Section | None:
    """What the lookout saw while each cell was timed, over all processes."""
    rounds: dict[str, list[CellRound]] = {weighted.cell.name: [] for weighted in run.cells}
    for measured in run.rounds:
        for cell in measured.cells:
            rounds.setdefault(cell.cell, []).append(cell)
    rows = tuple(_guard(name, found) for name, found in rounds.items() if found)
    return Section("Guards", (without_empty(Table(GUARDS, rows)),)) if rows else None


def without_empty(table: Table) -> Table:
    """Less the columns in which nothing is known."""
    told = [index for index, column in enumerate(zip(*table.rows)) if any(column)]
    header, *rows = (tuple(line[index] for index in told) for line in (table.header, *table.rows))
    return Table(header, tuple(rows))


def _guard(name: str, found: list[CellRound]) -> tuple[str, ...]:
    seen = [each.conditions for each in found if each.conditions is not None]
    settled, again = sum(each.settled for each in found), sum(len(each.voided) for each in found)
    return (
        *(name, f"in {settled} of {len(found)} processes", f"{again} blocks" if again else ""),
        _range((each.sm_clock_mhz for each in seen), lambda value: f"{value:.0f}", "MHz"),
        _range((each.temperature_c for each in seen), lambda value: f"{value:.0f}", "°C"),
        _range((each.power_w for each in seen), lambda value: numbers.significant(value, 3), "W"),
    )


def _range(ends: Iterable[tuple[float, float] | None], shown: Callable[[float], str], unit: str) -> str:
    known = [end for pair in ends if pair is not None for end in pair]
    return f"{shown(min(known))} to {shown(max(known))} {unit}" if known else ""
