from __future__ import annotations

from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.traffic import Lengths
from tuner.workload.lengths import length_at, mean_tokens, strata

PROMPTS = Lengths(1000, 6000)


@given(st.integers(0, 2**31), st.integers(1, 300))
def test_every_slice_of_the_distribution_is_drawn_once(seed: int, count: int) -> None:
    draws = strata(Random(seed), count)
    assert sorted(int(draw * count) for draw in draws) == list(range(count))


def test_draws_are_the_same_for_the_same_seed_and_shuffled() -> None:
    assert strata(Random("a"), 8) == strata(Random("a"), 8)
    assert strata(Random("a"), 64) != sorted(strata(Random("a"), 64))


def test_the_median_and_the_95th_percentile_are_those_given() -> None:
    assert [length_at(PROMPTS, quantile, 10**6) for quantile in (0.5, 0.95)] == [1000, 6000]


@given(st.floats(0.001, 0.999), st.integers(1, 5000))
def test_a_length_stays_between_one_and_the_limit(quantile: float, limit: int) -> None:
    assert 1 <= length_at(PROMPTS, quantile, limit) <= limit


def test_equal_quantiles_make_one_length() -> None:
    assert {length_at(Lengths(700, 700), quantile, 10**6) for quantile in (0.01, 0.5, 0.99)} == {700}


def test_the_mean_is_the_log_normal_s_and_less_where_its_tail_is_cut() -> None:
    assert mean_tokens(PROMPTS, 10**9) == pytest.approx(1810, rel=0.02)  # 1000 exp(sigma^2 / 2), sigma = ln 6 / 1.645
    assert mean_tokens(PROMPTS, 4096) < mean_tokens(PROMPTS, 10**9)


def test_many_draws_have_the_mean_of_the_distribution() -> None:
    draws = [length_at(PROMPTS, quantile, 10**9) for quantile in strata(Random(1), 4096)]
    assert mean(draws) == pytest.approx(mean_tokens(PROMPTS, 10**9), rel=0.02)
