from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Phase
from reports import effect
from store.decision import Pair
from store.scenario import WeightedCell
from tests.reports import building


def of_pick(**changes: object) -> tuple[effect.Effect, ...]:
    decision = replace(building.decision(), **changes)  # type: ignore[arg-type]
    assert decision.pick is not None
    return effect.of_pair(building.run(decision), decision, decision.pick)


def test_the_change_of_a_step_is_attentions_share_times_the_change_of_the_kernel() -> None:
    decode, prefill = of_pick()
    attention, short, long = 4.7236, 4.7236 + 4.1, 4.7236 + 7.25
    assert decode.low == pytest.approx(attention * (0.905 - 1) / short)
    assert decode.high == pytest.approx(attention * (0.919 - 1) / long)
    assert (prefill.low, prefill.high) == (0.0, 0.0)
    assert effect.text((decode, prefill)) == "TPOT 3.2 % to 5.1 % faster, TTFT unchanged"


def test_an_unbounded_rest_of_the_step_may_leave_no_effect() -> None:
    unbounded = tuple(replace(step, rest_ms_high=None) for step in building.decision().steps)
    assert of_pick(steps=unbounded)[0].high == 0.0


def test_a_phase_without_a_ratio_on_every_cell_is_not_predicted() -> None:
    pick = Pair(building.FA3, building.NATIVE)
    assert [found.phase for found in of_pick(pick=pick)] == [Phase.PREFILL]


def test_without_a_default_nothing_is_predicted() -> None:
    assert of_pick(default=None) == ()


def test_cells_of_weight_zero_do_not_count() -> None:
    decision = building.decision()
    run = building.run(decision)
    guard = replace(run.cells[0], cell=replace(run.cells[0].cell, name="largest"), calls_per_1000_tokens=0.0, token_share=0.0)
    assert decision.pick is not None
    assert effect.of_pair(replace(run, cells=(*run.cells, guard)), decision, decision.pick) == of_pick()


def test_verify_steps_count_for_tpot_on_whichever_side_they_are_served() -> None:
    decision = building.decision()
    run, pick = building.run(decision), decision.pick
    assert pick is not None and decision.default is not None and pick.prefill == decision.default.prefill
    drafted = tuple(_verifying(one) if one.cell.phase is Phase.DECODE else one for one in run.cells)
    served_by_prefill = effect.of_pair(replace(run, cells=drafted), decision, pick)
    assert [(found.phase, found.low, found.high) for found in served_by_prefill] == [(Phase.DECODE, 0.0, 0.0), (Phase.PREFILL, 0.0, 0.0)]
    both = Pair(pick.decode, pick.decode)
    assert effect.of_pair(replace(run, cells=drafted), decision, both)[0] == of_pick()[0]


def _verifying(one: WeightedCell) -> WeightedCell:
    cell = one.cell
    return replace(one, cell=replace(cell, phase=Phase.PREFILL, draft=(-1, 0, 1, 2), new_lens=(4,) * cell.batch))
