"""What a pair of processes says of two sides, on rounds whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.measured import Round
from store.scenario import Objective
from tests.store.building import a_run
from tests.tuner.comparing.made import Times, compared
from tuner.comparing import differences as taken
from tuner.comparing.differences import pairs_of
from tuner.comparing.judge import judge
from tuner.comparing.sitting_out import needs_more
from tuner.verdicts.rule import rule_for

RUN = a_run(arms=2, cells=2)
SLOW = math.log(1.05)
GATE = rule_for("gate")


def times(change: float = 0.0, drift: float = 0.0, scale: float = 0.0) -> Times:
    """ln us: 100 us each, the candidate ``change`` slower; per visit ``drift`` more, where sides and passes lie A B B A."""

    def at(side: int, arm: str, cell: str, block: int, place: int) -> float:
        arms = len(RUN.arms)
        half, within = divmod(place, arms)
        passed = 4 * arms * block + arms * ({(0, 0): 0, (1, 0): 1, (1, 1): 2, (0, 1): 3}[side, half]) + within
        return math.log(100) + scale + side * change + drift * passed

    return at


def found(times: Times, rounds: int = 4) -> np.ndarray:
    measured = compared(RUN, rounds, times)
    pairs = pairs_of(measured)
    return taken.differences(pairs, taken.keys_of(pairs))


@given(drift=st.floats(-0.01, 0.01), scale=st.floats(-3, 3))
def test_a_drift_over_the_sitting_and_a_common_factor_change_no_difference(drift: float, scale: float) -> None:
    assert found(times(SLOW, drift, scale), 2) == pytest.approx(found(times(SLOW), 2), abs=1e-9)


def test_swapped_sides_turn_every_difference_round() -> None:
    forth, back = found(times(SLOW)), found(times(-SLOW))
    assert forth.mean() == pytest.approx(SLOW, abs=1e-3) and back.mean() == pytest.approx(-SLOW, abs=1e-3)


@pytest.mark.parametrize(("change", "label", "code"), [(0.0, "equivalent", 0), (SLOW, "regressed", 1), (-SLOW, "improved", 0)])
def test_a_change_is_called_what_it_is(change: float, label: str, code: int) -> None:
    verdict = judge(compared(RUN, 9, times(change)), GATE)
    assert {row.verdict.label.value for row in verdict.rows} == {label}
    assert (verdict.label.value, verdict.exit_code, verdict.rounds) == (label, code, 9)
    assert {(row.arm, row.cell) for row in verdict.rows} == {
        (arm.name, cell) for arm in RUN.arms for cell in (*(weighted.cell.name for weighted in RUN.cells), None)
    }


def test_the_share_of_the_traffic_is_the_cells_times_by_their_weight() -> None:
    measured = compared(RUN, 3, times())
    name, cells = RUN.arms[0].name, RUN.cells
    by_hand = sum(each.calls_per_1000_tokens * each.layers * 100 / 1000 for each in cells)
    assert taken.objective_ms(measured.baseline.rounds, name, cells, Objective.THROUGHPUT) == pytest.approx(by_hand, rel=1e-2)


def test_pairs_end_when_every_row_is_labelled_and_not_before_a_look() -> None:
    assert [needs_more(compared(RUN, rounds, times()), GATE) for rounds in (0, 1, 3, 4)] == [True, True, True, False]
    # without a calibration a change is claimed from six pairs on
    assert [needs_more(compared(RUN, rounds, times(SLOW)), GATE) for rounds in (4, 5, 6)] == [True, True, False]


def test_a_pair_that_lost_its_blocks_on_one_side_says_so() -> None:
    (pair,) = pairs_of(compared(RUN, 1, times()))
    assert taken.too_few_blocks(pair) is None
    lost = "of fa3/p1 on decode_0 only {} blocks came through undisturbed on both sides"
    old, new = pair
    assert taken.too_few_blocks((old, first_blocks(new, 1))) == lost.format("1 of 4")
    assert taken.too_few_blocks((first_blocks(old, 0), new)) == lost.format("0 of 4")
    assert taken.too_few_blocks((first_blocks(old, 0), first_blocks(new, 0))) == lost.format("0 of 0")


def first_blocks(measured: Round, count: int) -> Round:
    cells = (replace(cell, visits=tuple(visit for visit in cell.visits if visit.block < count)) for cell in measured.cells)
    return replace(measured, cells=tuple(cells))


def test_a_comparison_of_which_nothing_is_common_to_all_pairs_ends_too() -> None:
    lost = compared(RUN, GATE.looks[-1], times())
    rounds = (first_blocks(lost.candidate.rounds[0], 0), *lost.candidate.rounds[1:])
    lost = replace(lost, candidate=replace(lost.candidate, rounds=rounds))
    assert not needs_more(lost, GATE) and judge(lost, GATE).rows == ()
