"""Cells that the default's own times ask for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from backends.cell import Phase
from backends.measured import Cost
from store.runs.run import Run
from store.scenario import WeightedCell
from tests.tuner.building import Recipe, arm, build
from tests.tuner.scenarios import SERVER
from tests.tuner.traffic.test_replay import MANY, planned, trace
from tuner.traffic.bends import bent, refined
from tuner.traffic.loads import block_steps, named_steps, spare_steps
from tuner.traffic.requests import Requests

APART = replace(MANY, arrival_s=np.concatenate((np.arange(400) * 1.5, 600 + np.arange(400) / 14)))  # batches of one, and of dozens
WIDE = replace(MANY, arrival_s=np.cumsum(np.geomspace(2.0, 0.02, len(MANY))))  # ever busier: batches from one to dozens


@cache
def probed(floor_us: float, asked: Requests = WIDE) -> Run:
    """fa3's decode takes ``floor_us`` and 1 ns a key, its prefill a time that goes with the products."""
    plan = planned(trace(asked))
    cells = tuple(one for one in plan.cells if not one.is_guard)
    times = {("fa3/p1", one.cell.name): _us(one, floor_us) for one in cells}
    run = build(Recipe((arm("fa3"),), times, cells, model=plan.scenario.model, gpu=plan.scenario.gpu, processes=0))
    return replace(run, scenario=replace(plan.scenario, engine=run.scenario.engine))


def _us(weighted: WeightedCell, floor_us: float) -> float:
    cell = weighted.cell
    if cell.phase is Phase.DECODE:
        return floor_us + 1e-3 * sum(cell.context_lens)
    return 1e-6 * sum(new * (context - new / 2) for new, context in zip(cell.new_lens, cell.context_lens)) + 1e-9


def foretold_otherwise(run: Run) -> list[str]:
    return [name for name, why in bent(run) if "other than what the cells around it foretell" in why]


def test_only_a_curve_that_bends_asks_for_cells_between_others() -> None:
    assert foretold_otherwise(probed(0.0)) == [] and foretold_otherwise(probed(40.0))


def test_a_cell_that_counts_and_that_none_is_near_enough_to_foretell_asks_for_one_too() -> None:
    assert any(why == f"no other cell is near enough to foretell {name}" for name, why in bent(probed(0.0, APART)))


def test_a_part_of_the_steps_gets_a_cell_of_its_own_and_the_rest_keeps_the_others() -> None:
    run = probed(40.0)
    asked = bent(run)
    cells, notes = refined(run, SERVER)
    added = {one.cell.name for one in cells} - {one.cell.name for one in run.cells}
    assert asked and len(added) == len(notes) >= 1
    assert all(" was added: " in note for note in notes)
    for phase in Phase:
        mine = [one for one in cells if one.cell.phase is phase]
        assert sum(one.token_share for one in mine) == pytest.approx(1) and all(one.calls_per_1000_tokens > 0 for one in mine)
    before, after = (sum(one.calls_per_1000_tokens for one in some if one.cell.phase is Phase.DECODE) for some in (run.cells, cells))
    assert before == pytest.approx(after)


def test_what_was_added_once_is_not_added_again() -> None:
    run = probed(40.0)
    cells, _ = refined(run, SERVER)
    again, notes = refined(replace(run, cells=cells), SERVER)
    assert again == cells and not notes


def test_no_phase_gets_more_cells_than_it_may_have() -> None:
    run = probed(40.0)
    decode = next(one for one in run.cells if one.cell.phase is Phase.DECODE)
    full = (*run.cells, *(replace(decode, cell=replace(decode.cell, name=f"more-{number}")) for number in range(12)))
    assert [note for note in refined(replace(run, cells=full), SERVER)[1] if "decode" in note] == []


def test_the_blocks_of_a_cell_that_was_added_are_taken_from_the_one_it_is_a_part_of() -> None:
    recorded = probed(0.0).scenario.traffic.recorded
    assert recorded is not None
    steps, spare = named_steps(recorded), spare_steps(recorded)
    assert spare and len(steps) == len(recorded.steps) + len(recorded.spare)
    whole, part = next(iter(spare.items()))
    assert steps[whole].phase is steps[part].phase and steps[part].token_share < steps[whole].token_share
    assert block_steps(recorded, [whole])[whole] == steps[whole].block_steps
    both = block_steps(recorded, [whole, part])
    assert [one + other for one, other in zip(both[whole], both[part])] == pytest.approx(steps[whole].block_steps, abs=1e-2)


def test_a_default_that_was_not_probed_asks_for_nothing_and_one_twice_as_slow_for_the_same() -> None:
    run = probed(40.0)
    slower = tuple(replace(trial, cost=Cost(2 * trial.cost.device_us, None, 10.0, 10.0)) for trial in run.trials if trial.cost)
    assert bent(replace(run, trials=())) == []
    assert [name for name, _ in bent(replace(run, trials=slower))] == [name for name, _ in bent(run)]
