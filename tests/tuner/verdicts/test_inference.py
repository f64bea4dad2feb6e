"""The tests behind verdicts, against scipy.stats and by what must hold of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from tuner.verdicts.inference import estimates, faster, holm, minimum_detectable, same, slower

MARGIN, FLOOR = 0.02, 0.001
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(seed=st.integers(0, 10_000), rounds=st.integers(2, 14))
def test_p_values_are_those_of_a_one_sided_t_test(seed: int, rounds: int) -> None:
    d = np.random.default_rng(seed).normal(0.02, 0.01, (rounds, 3))
    found = estimates(d, 1e-9)
    assert slower(found, MARGIN) == pytest.approx(stats.ttest_1samp(d, MARGIN, alternative="greater").pvalue)
    assert faster(found, MARGIN) == pytest.approx(stats.ttest_1samp(d, -MARGIN, alternative="less").pvalue)


@given(p=P_VALUES)
def test_holm_rejects_what_its_step_down_rejects(p: list[float]) -> None:
    """The smallest p against alpha / m, the next against alpha / (m - 1), up to the first that is too large."""
    alpha, steps = 0.05, list(zip(sorted(p), range(len(p), 0, -1)))
    assume(all(abs(value * left - alpha) > 1e-9 for value, left in steps))
    kept = [place for place, (value, left) in enumerate(steps) if value > alpha / left]
    assert np.count_nonzero(holm(np.array(p)) <= alpha) == min(kept, default=len(p))


@given(p=P_VALUES)
def test_adjusting_keeps_the_order_and_makes_nothing_surer(p: list[float]) -> None:
    adjusted = holm(np.array(p))
    assert np.all(adjusted >= np.array(p)) and np.all(adjusted <= 1)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0)


@given(p=st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_families_side_by_side_are_adjusted_apart(p: list[float]) -> None:
    both = np.array([p, p[::-1]])
    assert np.array_equal(holm(both), np.array([holm(both[0]), holm(both[1])]))


def test_a_difference_is_the_same_only_where_its_whole_interval_is_within_the_margin() -> None:
    rounds = np.array([[0.0, 0.019, 0.0], [0.001, 0.0195, 0.04], [-0.001, 0.0185, -0.04], [0.0, 0.019, 0.0]])
    assert same(estimates(rounds, FLOOR), MARGIN, 0.05).tolist() == [True, False, False]


def test_rounds_that_never_vary_have_the_floor() -> None:
    found = estimates(np.zeros((4, 1)), FLOOR)
    assert found.error == pytest.approx(FLOOR / 2) and np.isfinite(slower(found, MARGIN)).all()


def test_what_is_detectable_shrinks_towards_the_margin_with_the_root_of_the_rounds() -> None:
    spread = [np.array([[0.01], [-0.01]] * (rounds // 2)) for rounds in (64, 256, 1024)]
    beyond = [math.log1p(float(minimum_detectable(estimates(d, FLOOR), MARGIN, 0.0025)[0])) - MARGIN for d in spread]
    assert beyond[0] / beyond[1] == pytest.approx(2, rel=0.05) and beyond[1] / beyond[2] == pytest.approx(2, rel=0.02)
