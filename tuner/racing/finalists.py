"""Which arms are measured once more after a race, where, and under which conditions. A pure function of what is stored.

Source of the conditions: the measuring protocol, sections 2.3 (neighbours in a step) and 2.1 (pages).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.cell import Cell, PageLayout, Phase
from store.decision import CellResult, Decision
from store.revisit import Condition
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.arithmetic.looks import REVISITS
from tuner.arithmetic.objective import counted
from tuner.decide import decide
from tuner.deciding.bars import kept_out
from tuner.deciding.contest import surroundings_of
from tuner.step_model.shape import tokens_of
from tuner.step_model.step import params_multiplied, params_read
from tuner.workload.weights import bytes_per_param, params_per_rank

NEAR = 0.10  # whoever is further behind is not overtaken by what lies around a call
MOST = 4  # arms
MOST_STREAMED = 1 << 30  # bytes: what lies between two calls has long left the cache


@dataclass(frozen=True)
class Finals:
    """``arms`` on ``cell``, a decode step, in the process ``index`` of those after the race. ``stream_bytes``: weights of a layer
    on one rank."""

    index: int
    cell: Cell
    arms: tuple[Arm, ...]
    conditions: tuple[Condition, ...]
    stream_bytes: int


def next_finals(run: Run) -> Finals | None:
    """None: nothing more is asked for, nobody is near, or it failed."""
    if len(run.revisits) >= REVISITS or any(each.failed for each in run.revisits) or not run.scenario.measure.sensitivity or not run.race:
        return None
    decision = decide(run)
    found = _heaviest(run, decision)
    if decision.pick is None or found is None:
        return None
    weighted, results = found
    names = [result.arm for result in _near(run, decision, decision.pick.decode, results)]
    arms = {arm.name: arm for arm in run.arms}
    conditions = tuple(_conditions(run, weighted.cell, results[decision.pick.decode].mode))
    if len(names) < 2 or not conditions:
        return None
    return Finals(len(run.revisits), weighted.cell, tuple(arms[name] for name in names), conditions, layer_weight_bytes(run, weighted))


def under(cell: Cell, condition: Condition) -> Cell:
    """``cell`` as a cell of its own."""
    layout = PageLayout.RANDOM if condition is Condition.RANDOM_PAGES else cell.page_layout
    return replace(cell, name=f"{cell.name} ({condition.value})", page_layout=layout)


def layer_weight_bytes(run: Run, weighted: WeightedCell) -> int:
    """What one layer of one rank reads of its weights in the step of a decode cell, with as many experts as its tokens can touch."""
    around = surroundings_of(run)
    model, ranks = around.model, around.ranks
    vocabulary = model.params_active - params_multiplied(model)[0]
    touched = params_read(model, tokens_of(weighted.cell) * ranks.attn_dp)[1] - vocabulary
    layers = model.attention_layers + model.other_layers
    return min(MOST_STREAMED, round(params_per_rank(model, touched, ranks) * bytes_per_param(model) / layers))


def _heaviest(run: Run, decision: Decision) -> tuple[WeightedCell, dict[str, CellResult]] | None:
    """The decode cell that takes most of the time with what would be served, and every arm's result there."""
    served = None if decision.pick is None else decision.pick.decode
    cells = {each.cell.name: each for each in counted(run.cells, run.scenario.decide.objective) if each.cell.phase is Phase.DECODE}
    times = {each.cell: each.median_us for each in decision.cells if each.arm == served and each.cell in cells}
    if not times:
        return None
    name = max(times, key=lambda cell: times[cell] * cells[cell].layers * cells[cell].calls_per_1000_tokens)
    return cells[name], {each.arm: each for each in decision.cells if each.cell == name}


def _near(run: Run, decision: Decision, served: str, results: dict[str, CellResult]) -> list[CellResult]:
    """The one that would be served, then the default, then the fastest of those that may be: they share a mode, since others are not
    ranked against it."""
    allowed = {score.pair.decode for score in decision.scores if kept_out(run, score.pair) is None}
    default = decision.default.decode if decision.default else served
    mine = results[served]
    near = [
        each
        for each in sorted(results.values(), key=lambda each: (each.arm != served, each.arm != default, each.median_us))
        if each.mode == mine.mode and (each.arm in (served, default) or _is_near(each, mine, allowed))
    ]
    return near[:MOST]


def _is_near(result: CellResult, mine: CellResult, allowed: set[str]) -> bool:
    return result.arm in allowed and result.median_us <= (1 + NEAR) * mine.median_us


def _conditions(run: Run, cell: Cell, mode: str) -> Iterator[Condition]:
    """Of those asked for: nothing stands between two eager launches, and pages that lie at random already are not shuffled again."""
    for condition in run.scenario.measure.sensitivity:
        if condition is Condition.SANDWICH and mode == "graph":
            yield condition
        if condition is Condition.RANDOM_PAGES and cell.page_layout is not PageLayout.RANDOM:
            yield condition
