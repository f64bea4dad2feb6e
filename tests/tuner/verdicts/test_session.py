"""What sittings differ by, and the corrections that are made before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tuner.verdicts import correction
from tuner.verdicts.session import FLOOR, OTHER_BOARD, SAME_BOARD, assumed, session_noise


def test_few_pairs_of_sittings_say_less_than_judgement() -> None:
    assert session_noise([0.001] * 4, [0.0] * 4, same_board=True) == assumed(True)
    assert (assumed(True).sigma, assumed(False).sigma) == (SAME_BOARD, OTHER_BOARD)


def test_the_noise_of_sittings_is_inflated_to_its_upper_limit() -> None:
    pairs, spread = 10, 0.02
    found = session_noise([spread, -spread] * (pairs // 2), [0.0] * pairs, same_board=True)
    once = spread / math.sqrt(2)  # a difference holds the noise of two sittings
    assert found.sigma == pytest.approx(once * math.sqrt(pairs / stats.chi2.ppf(0.2, pairs))) and found.df == pairs


def test_what_the_processes_explain_is_no_noise_of_the_sitting() -> None:
    noisy = session_noise([0.02, -0.02] * 5, [0.0003] * 10, same_board=True)
    assert noisy.sigma < session_noise([0.02, -0.02] * 5, [0.0] * 10, same_board=True).sigma
    assert session_noise([0.001, -0.001] * 5, [0.01] * 10, same_board=True).sigma == FLOOR


def test_an_upper_limit_is_below_the_truth_in_one_case_of_five() -> None:
    rng, truth, runs = np.random.default_rng(1), 0.01, 2000
    drawn = truth * math.sqrt(2) * rng.standard_normal((runs, 10))
    below = sum(session_noise(pairs.tolist(), [0.0] * 10, same_board=True).sigma < truth for pairs in drawn)
    assert stats.binom.ppf(0.0005, runs, 0.2) <= below <= stats.binom.ppf(0.9995, runs, 0.2)


def test_controls_are_corrected_for_by_their_median_and_are_no_surer_than_the_least_sure() -> None:
    old = np.zeros((4, 3, 1)) + np.array([0.001, -0.001, 0.001, -0.001])[:, None, None]
    new = old + np.array([0.02, 0.03, 0.9])[None, :, None]
    found = correction.by_controls(new, old)
    assert found.shift == pytest.approx(0.03) and not found.too_large
    assert found.variance == pytest.approx(2 * 0.001**2 * 4 / 3 / 4) and found.df == 3


def test_an_anchor_is_believed_up_to_three_percent_and_how_much_of_it_a_cell_feels_is_unsure() -> None:
    visits = np.array([0.0, 0.001, -0.001] * 3)
    small, large = (correction.by_anchor(visits + drift, visits, cells=2) for drift in (-0.02, 0.04))
    assert small.shift == pytest.approx([-0.02, -0.02]) and small.exposure == pytest.approx([0.0058, 0.0058])
    assert (small.too_large, large.too_large) == (False, True)
