"""Intervals over processes: what they cover, what leaves them alone, and where they refuse."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import binom

from backends.blocks import palindromes
from tuner.arithmetic.statistics import bonferroni, interval, minimum_detectable, process_mean, standard_error, tied, visit_value

FLOOR = 0.006
DIFFERENCES = st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=10)


def test_a_visit_is_worth_the_logarithm_of_its_median() -> None:
    assert visit_value([90.0, 100.0, 5000.0]) == math.log(100.0)


@given(samples=st.lists(st.floats(0.1, 1e5), min_size=1, max_size=9), times=st.integers(2, 4))
def test_repeating_every_replay_changes_nothing(samples: list[float], times: int) -> None:
    assert visit_value(samples * times) == visit_value(samples)


def test_a_process_mean_is_over_visits_however_many_samples_each_has() -> None:
    assert process_mean([[100.0], [400.0] * 7]) == pytest.approx(math.log(200.0), abs=1e-12)


@given(slope=st.floats(-0.01, 0.01), arms=st.integers(2, 5), blocks=st.integers(1, 5), seed=st.integers(0, 99))
def test_linear_drift_over_palindromes_cancels_in_a_difference(slope: float, arms: int, blocks: int, seed: int) -> None:
    levels = {f"arm{index}": math.log(50.0 + index) for index in range(arms)}
    sequence = [arm for order in palindromes(list(levels), blocks, random.Random(seed)) for arm in order]
    drifted = {arm: [[math.exp(levels[arm] + slope * t)] for t, other in enumerate(sequence) if other == arm] for arm in levels}
    difference = process_mean(drifted["arm1"]) - process_mean(drifted["arm0"])
    assert difference == pytest.approx(levels["arm1"] - levels["arm0"], abs=1e-12)


@given(differences=DIFFERENCES)
def test_swapping_the_arms_turns_the_interval_over(differences: list[float]) -> None:
    one, other = interval(differences, 0.95, FLOOR), interval([-d for d in differences], 0.95, FLOOR)
    assert one and other
    assert other.estimate == pytest.approx(1 / one.estimate)
    assert (other.low, other.high) == pytest.approx((1 / one.high, 1 / one.low))


@given(differences=DIFFERENCES, seed=st.integers())
def test_the_order_of_processes_does_not_matter(differences: list[float], seed: int) -> None:
    shuffled = random.Random(seed).sample(differences, len(differences))
    one, other = interval(differences, 0.95, FLOOR), interval(shuffled, 0.95, FLOOR)
    assert one and other
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)


@given(differences=DIFFERENCES)
def test_an_interval_holds_its_estimate_and_grows_with_confidence(differences: list[float]) -> None:
    narrow, wide = interval(differences, 0.9, FLOOR), interval(differences, 0.99, FLOOR)
    assert narrow and wide
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high


def test_no_spread_at_all_still_has_the_floor() -> None:
    assert standard_error([0.01] * 4, FLOOR) == FLOOR / 2 / 2
    found = interval([0.01] * 4, 0.95, FLOOR)
    assert found and math.log(found.high) - 0.01 == pytest.approx(stdtrit(3, 0.975) * FLOOR / 4)


@pytest.mark.parametrize("differences", [[], [0.3]])
def test_fewer_than_two_processes_have_no_interval(differences: list[float]) -> None:
    assert interval(differences, 0.95, FLOOR) is None
    assert minimum_detectable(differences, 0.95, FLOOR) is None
    assert not tied(differences, 10.0, 0.95, FLOOR)


@pytest.mark.parametrize("processes", [2, 4, 8])
def test_a_95_percent_interval_covers_the_truth_95_times_in_100(processes: int) -> None:
    rng, runs, truth = random.Random(processes), 3000, 0.03
    found = [interval([rng.gauss(truth, 0.01) for _ in range(processes)], 0.95, FLOOR) for _ in range(runs)]
    covered = sum(made is not None and made.low <= math.exp(truth) <= made.high for made in found)
    assert binom.ppf(0.0005, runs, 0.95) <= covered
    if processes > 2:  # at two the floor, which may only widen, is above the spread often enough to show
        assert covered <= binom.ppf(0.9995, runs, 0.95)


def test_intervals_of_many_rivals_hold_together() -> None:
    rng, runs, rivals = random.Random(1), 1000, 5
    confidence = bonferroni(0.95, rivals)
    missed = 0
    for _ in range(runs):
        common = [rng.gauss(0, 0.01) for _ in range(4)]
        found = [interval([rng.gauss(0, 0.01) - base for base in common], confidence, FLOOR) for _ in range(rivals)]
        missed += any(made is not None and not made.low <= 1 <= made.high for made in found)
    assert missed <= binom.ppf(0.9995, runs, 0.05)


def test_confidence_is_shared_among_comparisons() -> None:
    assert bonferroni(0.95, 5) == pytest.approx(0.99)
    assert bonferroni(0.95, 0) == 0.95


def test_a_tie_must_be_sure_on_both_sides() -> None:
    assert tied([0.001, -0.001, 0.0, 0.0005], 0.01, 0.95, FLOOR)
    assert not tied([0.012] * 4, 0.01, 0.95, FLOOR)
    assert not tied([-0.012] * 4, 0.01, 0.95, FLOOR)
    assert not tied([0.03, -0.03, 0.02, -0.02], 0.01, 0.95, FLOOR)


def test_two_arms_one_percent_apart_are_rarely_called_a_tie() -> None:
    rng, runs = random.Random(2), 2000
    called = sum(tied([rng.gauss(math.log(1.01), 0.004) for _ in range(4)], 0.01, 0.95, FLOOR) for _ in range(runs))
    assert called <= binom.ppf(0.9995, runs, 0.05)


def test_more_processes_detect_smaller_differences() -> None:
    effects = [minimum_detectable([0.01, -0.01] * (processes // 2), 0.95, FLOOR) for processes in (4, 16, 64)]
    assert effects[0] and effects[1] and effects[2]
    assert effects[0] > 2 * effects[1] > 0
    assert effects[1] / effects[2] == pytest.approx(2, rel=0.1)


def test_the_minimum_detectable_effect_is_found_as_often_as_it_says() -> None:
    rng, runs, sd, processes = random.Random(4), 2000, 0.01, 12
    effect = minimum_detectable([sd * math.sqrt(11 / 12), -sd * math.sqrt(11 / 12)] * 6, 0.95, FLOOR)
    assert effect
    truth = math.log1p(effect)
    found = [interval([rng.gauss(truth, sd) for _ in range(processes)], 0.95, FLOOR) for _ in range(runs)]
    assert 0.75 < sum(made is not None and made.low > 1 for made in found) / runs < 0.85
