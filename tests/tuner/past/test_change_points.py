from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuner.past.change_points import FEWEST_POINTS, PART, change_points, farthest

noises = st.integers(0, 10_000)


def noisy(levels: list[float], seed: int, sd: float = 0.003) -> list[float]:
    rng = random.Random(seed)
    return [level + rng.gauss(0, sd) for level in levels]


@given(seed=noises, before=st.integers(5, 12), after=st.integers(5, 12), step=st.sampled_from([-0.2, -0.08, 0.08, 0.2]))
@settings(deadline=None, max_examples=40)
def test_one_clear_step_is_found_where_it_is(seed: int, before: int, after: int, step: float) -> None:
    found = change_points(noisy([0.0] * before + [step] * after, seed))
    assert found is not None and before in {change.at for change in found}
    (at,) = [change for change in found if change.at == before]
    assert math.log(at.ratio) == pytest.approx(step, abs=0.02)


@given(seed=noises, count=st.integers(FEWEST_POINTS, 30))
@settings(deadline=None, max_examples=40)
def test_noise_and_changes_below_two_percent_are_none(seed: int, count: int) -> None:
    assert change_points(noisy([0.0] * count, seed)) == ()
    assert change_points([0.01 * (place >= count // 2) for place in range(count)]) == ()
    assert change_points([4.6] * count) == ()


@given(seed=noises, shift=st.floats(-5, 5))
@settings(deadline=None, max_examples=30)
def test_a_common_factor_moves_no_change_and_a_series_read_backwards_has_it_mirrored(seed: int, shift: float) -> None:
    values = noisy([0.0] * 8 + [0.1] * 7, seed)
    places = [change.at for change in change_points(values) or ()]
    assert [change.at for change in change_points([value + shift for value in values]) or ()] == places
    mirrored = change_points(values[::-1]) or ()
    assert [len(values) - change.at for change in mirrored][::-1] == places


@given(seed=noises, slow=st.integers(4, 9), flip=st.booleans())
@settings(deadline=None, max_examples=30)
def test_a_single_point_at_either_end_hides_no_change(seed: int, slow: int, flip: bool) -> None:
    """As the first release that is cured of a regression: five good ones, several ten times as slow, and one good one again."""
    values = noisy([0.0] * 5 + [2.4] * slow + [0.0], seed, sd=0.01)
    found = change_points(values[::-1] if flip else values)
    assert [change.at for change in found or ()] == [1 + slow if flip else 5]


def test_two_steps_are_both_found_and_too_few_points_are_no_answer() -> None:
    values = noisy([0.0] * 8 + [0.1] * 8 + [0.03] * 8, 1)
    assert [change.at for change in change_points(values) or ()] == [8, 16]
    assert change_points(values[: FEWEST_POINTS - 1]) is None
    assert PART >= 2  # of one point nobody knows how far it scatters


@given(st.lists(st.integers(-1000, 1000), min_size=2 * PART, max_size=24))
def test_the_parts_that_are_farthest_apart_are_so_by_the_definition(values: list[int]) -> None:
    def mean(one: list[int], other: list[int]) -> float:
        return sum(abs(x - y) for x in one for y in other) / (len(one) * len(other))

    def within(part: list[int]) -> float:
        return mean(part, part) * len(part) / (len(part) - 1)

    def energy(at: int) -> float:
        one, other = values[:at], values[at:]
        share = len(one) * len(other) / len(values)
        return share * (2 * mean(one, other) - within(one) - within(other))

    best = max(map(energy, range(PART, len(values) - PART + 1)))
    assert energy(farthest(np.array(values, dtype=float))) == pytest.approx(best, abs=1e-6)
