"""Every measured arm on every cell, and attention's share of each step."""

from __future__ import annotations

import math

from store.decision import CellResult, Interval, Pair
from store.scenario import WeightedCell
from store.step_model import StepModel
from tuner.arithmetic.objective import US_PER_MS
from tuner.deciding.contest import Contest
from tuner.deciding.scores import cell_differences, cell_ratio, served_ln
from tuner.step_model.step import step_model


def cell_results(contest: Contest, fresh: Contest | None = None, pick: Pair | None = None) -> tuple[CellResult, ...]:
    """Also of arms that may not be ranked: what was measured is shown. The ratios of ``pick`` are those of the ``fresh`` processes
    after the choice, where there are such."""
    table = contest.table
    return tuple(
        CellResult(
            arm,
            weighted.cell.name,
            table.mode(arm, weighted.cell.name) or "",
            median_us(contest, arm, weighted.cell.name),
            _ratio(fresh if fresh and pick and arm == pick.of(weighted.cell.phase) else contest, arm, weighted),
            _lone_ratio(contest, arm, weighted),
        )
        for weighted in table.cells
        for arm in table.arms
        if table.measured(arm, weighted.cell.name)
    )


def step_models(contest: Contest, pair: Pair | None) -> tuple[StepModel, ...]:
    """Attention's share of each step with ``pair``, over the cells that count."""
    if pair is None:
        return ()
    return tuple(step_model(weighted, _attention_ms(contest, pair, weighted), contest.around) for weighted in contest.cells)


def _attention_ms(contest: Contest, pair: Pair, weighted: WeightedCell) -> float:
    return weighted.layers * median_us(contest, pair.of(weighted.cell.phase), weighted.cell.name) / US_PER_MS


def median_us(contest: Contest, arm: str, cell: str) -> float:
    """Over the processes that timed it, or as `served_ln` has it; raises ValueError where none did."""
    key = (arm, cell)
    return math.exp(served_ln(contest, [(each.board, each.ln_us[key]) for each in contest.table.processes if key in each.ln_us]))


def _ratio(contest: Contest, arm: str, weighted: WeightedCell) -> Interval | None:
    if contest.default is None:
        return None
    return cell_ratio(contest, arm, contest.default.of(weighted.cell.phase), weighted.cell.name)


def _lone_ratio(contest: Contest, arm: str, weighted: WeightedCell) -> float | None:
    """In the only process that timed both; an arm that left the race after it has no interval."""
    default, cell = contest.default.of(weighted.cell.phase) if contest.default else arm, weighted.cell.name
    if arm == default or contest.table.mode(arm, cell) != contest.table.mode(default, cell):
        return None
    found = cell_differences(contest.table, arm, default, cell)
    return math.exp(found[0]) if len(found) == 1 else None
