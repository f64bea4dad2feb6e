"""Points of a history out of what was committed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.timing.disturbance import CAPPED
from store.comparisons.side_by_side import SideBySide
from store.digest import cell_digest
from store.past.course import Point
from store.runs.run import Run
from tuner.arithmetic.objective import process_of


def points_in(comparisons: Iterable[SideBySide], arm: str, cell: str) -> tuple[Point, ...]:
    """Of either side that timed ``arm`` on a cell of that name, but for candidates that were slowed on purpose."""
    sides = (
        (each, run) for each in comparisons for run in (each.baseline, each.candidate) if not (each.is_slowed and run is each.candidate)
    )
    return tuple(point for each, run in sides for point in points_of_run(run, arm, cell, each.id))


def points_of_run(run: Run, arm: str, cell: str, comparison: str | None = None) -> Iterator[Point]:
    """One, or none where it did not time that."""
    processes = ((measured.index, process_of(measured).ln_us.get((arm, cell))) for measured in run.race)
    timed = tuple((index, ln_us) for index, ln_us in processes if ln_us is not None)
    if not timed:
        return
    yield Point(
        run=run.id,
        comparison=comparison,
        created=run.created,
        model=run.scenario.model.name,
        traffic=run.scenario.traffic.name,
        engine=run.scenario.engine.name,
        engine_version=run.engine_version,
        protocol=run.protocol,
        profile=run.scenario.measure.profile,
        environment=run.environment,
        arm=next(each for each in run.arms if each.name == arm),
        cell_digest=next(cell_digest(weighted.cell) for weighted in run.cells if weighted.cell.name == cell),
        processes=timed,
        capped=any(CAPPED in measured.labels for measured in run.rounds),
    )


def names_in(comparisons: Iterable[SideBySide]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of all arms and of all cells, as `store.past.history.named_in` tells them of a store."""
    runs = [each.baseline for each in comparisons]
    arms = {arm.name for run in runs for arm in run.arms}
    return tuple(sorted(arms)), tuple(sorted({weighted.cell.name for run in runs for weighted in run.cells}))
