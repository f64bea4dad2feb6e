"""New times against stored ones: a screen that knows how little it knows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from store.verdicts.comparison import Label, Why
from tuner.verdicts import correction
from tuner.verdicts.session import SessionNoise, assumed
from tuner.verdicts.stored import Sitting, difference, incomparable, same_board, screen

QUIET = SessionNoise(0.003, 30)
SITTING = Sitting(1, "sha256:7", 6, ("GPU-1", "96.00", 700.0, "none"), False)
SPREAD = np.array([0.002, -0.002, 0.001, -0.001, 0.003, -0.003])[:, None]


def sitting(*means: float) -> np.ndarray:
    return np.array(means)[None, :] + SPREAD


def said(*changes: float, noise: SessionNoise = QUIET, apart: tuple[str, ...] = ()) -> list[Label]:
    cells = [f"cell{number}" for number in range(len(changes))]
    found = screen(sitting(*changes), sitting(*[0.0] * len(changes)), cells, correction.none(len(changes)), noise, apart)
    assert [verdict.numbers.what for verdict in found] == cells
    return [verdict.label for verdict in found]


def test_with_quiet_sittings_a_screen_can_be_sure() -> None:
    assert said(0.10, -0.10, 0.0, 0.025) == [Label.REGRESSED, Label.IMPROVED, Label.EQUIVALENT, Label.SUSPECT]


def test_with_ordinary_sittings_it_can_only_suspect() -> None:
    assert said(0.05, 0.01, -0.05, noise=assumed(True)) == [Label.SUSPECT, Label.INCONCLUSIVE, Label.INCONCLUSIVE]


def test_what_is_surely_within_the_margin_is_not_suspect_though_it_is_probably_slower() -> None:
    assert said(0.012) == [Label.EQUIVALENT]


def test_a_cell_that_is_not_comparable_has_no_verdict() -> None:
    (found,) = screen(sitting(0.2), sitting(0.0), ["cell0"], correction.none(1), QUIET, apart=["cell0"])
    assert (found.label, found.why) == (Label.INCONCLUSIVE, Why.INCOMPARABLE)


def test_more_processes_do_not_beat_the_noise_of_sittings() -> None:
    many = np.tile(sitting(0.0), (200, 1))
    found = difference(many, many, correction.none(1), assumed(True))
    assert found.error[0] == pytest.approx(math.sqrt(2) * 0.01, rel=1e-3) and found.df[0] == pytest.approx(10, rel=0.01)


def test_a_correction_moves_the_estimate_and_costs_certainty() -> None:
    plain, corrected = (
        difference(sitting(0.03), sitting(0.0), each, QUIET)
        for each in (correction.none(1), correction.by_anchor(np.full(5, 0.02) + SPREAD[:5, 0], SPREAD[:5, 0], 1))
    )
    assert plain.centre[0] == pytest.approx(0.03) and corrected.centre[0] == pytest.approx(0.01)
    assert corrected.error[0] > plain.error[0]


def test_degrees_of_freedom_are_welchs_where_sittings_add_nothing() -> None:
    rng = np.random.default_rng(2)
    new, old = rng.normal(0, 0.01, (4, 1)), rng.normal(0, 0.03, (7, 1))
    found = difference(new, old, correction.none(1), SessionNoise(0.0, 1e9))
    welch = stats.ttest_ind(new[:, 0], old[:, 0], equal_var=False)
    assert found.df[0] == pytest.approx(welch.df) and found.centre[0] / found.error[0] == pytest.approx(welch.statistic)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (replace(SITTING, protocol=2), "protocol"),
        (replace(SITTING, cell_digest="sha256:8"), "another one"),
        (replace(SITTING, processes=2), "2 processes on one side, 3 are needed"),
        (replace(SITTING, power_capped=True), "power cap"),
        (replace(SITTING, power_capped=None), "nobody knows whether the power cap"),
    ],
)
def test_two_sittings_that_were_not_alike_are_incomparable(other: Sitting, words: str) -> None:
    assert words in str(incomparable(SITTING, other, correction.none(1)))
    assert incomparable(SITTING, SITTING, correction.none(1)) is None


def test_an_anchor_that_drifted_far_makes_two_sittings_incomparable() -> None:
    drifted = correction.by_anchor(np.full(3, 0.05), np.zeros(3), 1)
    assert incomparable(SITTING, SITTING, drifted) == "the anchors differ by over 3 %"


def test_another_power_limit_is_another_board() -> None:
    assert not same_board(SITTING, replace(SITTING, board=("GPU-1", "96.00", 500.0, "none")))
