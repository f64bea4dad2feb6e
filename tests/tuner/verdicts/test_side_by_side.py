"""Verdicts on two versions in one sitting: against the protocol's reference, and the reasons of what stays open."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from store.verdicts.comparison import CellVerdict, Label, Why
from tuner.verdicts.rule import Rule, rule_for
from tuner.verdicts.side_by_side import Code, labels, shifted, undecided, verdicts

RELEASE = replace(rule_for("release"), first_change=4, floor=0.001)
NAMES = {Code.OPEN: "open", Code.REGRESSED: "regressed", Code.IMPROVED: "improved", Code.EQUIVALENT: "equivalent"}


def reference(d: np.ndarray, rounds: int, said: np.ndarray) -> np.ndarray:
    """The protocol's decision function, written with scipy.stats; what was ``said`` of a cell before is how it counts in the family."""
    margin, changed, same, looks = math.log(1.02), 0.01, 0.05, 4
    x = d[:rounds]
    mean, error = x.mean(0), np.maximum(x.std(0, ddof=1), 1e-3) / math.sqrt(rounds)
    over, under = (stats.t.sf((sign * mean - margin) / error, rounds - 1) for sign in (1, -1))
    regressed = _step_down(np.where(said == "open", over, said != "regressed"), changed / looks)
    improved = _step_down(np.where(said == "open", under, said != "improved"), changed / looks)
    half = stats.t.ppf(1 - same / looks, rounds - 1) * error
    return np.select([regressed, improved, np.abs(mean) + half < margin], ["regressed", "improved", "equivalent"], "open")


def _step_down(p: np.ndarray, alpha: float) -> np.ndarray:
    rejected = np.zeros(len(p), bool)
    for place, index in enumerate(np.argsort(p)):
        if p[index] > alpha / (len(p) - place):
            break
        rejected[index] = True
    return rejected


@settings(max_examples=200)
@given(seed=st.integers(0, 100_000), cells=st.integers(1, 8), sd=st.floats(0.001, 0.03), shift=st.floats(-0.06, 0.06))
def test_each_look_says_what_the_reference_says_and_a_label_once_given_stays(seed: int, cells: int, sd: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(shift * rng.integers(0, 2, cells), sd, (14, cells))
    said = np.full(cells, "open", object)
    for rounds in (4, 6, 9, 14):
        said = np.where(said == "open", reference(d, rounds, said), said)
        assert [NAMES[Code(code)] for code in labels(d[:rounds], RELEASE)[0]] == said.tolist()


def judged(d: object, rule: Rule = RELEASE, **caps: object) -> tuple[CellVerdict, ...]:
    rounds = np.array(d, dtype=float)
    return verdicts(rounds, [f"cell{number}" for number in range(rounds.shape[1])], rule, **caps)


def noisy(mean: float, sd: float, rounds: int = 14) -> list[list[float]]:
    return np.random.default_rng(7).normal(mean, sd, (rounds, 1)).tolist()


@pytest.mark.parametrize(("mean", "label"), [(0.05, Label.REGRESSED), (-0.05, Label.IMPROVED), (0.0, Label.EQUIVALENT)])
def test_a_plain_case_is_labelled_at_the_first_look(mean: float, label: Label) -> None:
    (found,) = judged(noisy(mean, 0.002))
    assert (found.label, found.why, found.numbers.rounds) == (label, None, 4)
    assert found.numbers.low < mean < found.numbers.high and found.numbers.confidence == 0.98


@pytest.mark.parametrize(
    ("d", "why"),
    [
        (noisy(0.0, 0.05), Why.NOISE),
        (noisy(math.log(1.02), 0.004), Why.BORDERLINE),
        ([[0.05 * (place % 3 == 0)] for place in range(14)], Why.TWO_MODE),
        (noisy(0.0, 0.05, rounds=9), Why.OPEN),
    ],
)
def test_what_stays_open_says_why(d: list[list[float]], why: Why) -> None:
    (found,) = judged(d)
    assert (found.label, found.why) == (Label.INCONCLUSIVE, why)
    assert found.numbers.minimum_detectable > math.expm1(RELEASE.margin)


def test_no_verdict_where_a_cell_had_not_settled_or_the_environment_moved() -> None:
    d = np.hstack([noisy(0.05, 0.002), noisy(0.0, 0.002)])
    assert [found.why for found in judged(d, unsettled={"cell0"})] == [Why.UNSETTLED, None]
    assert [found.why for found in judged(d, shifted=True)] == [Why.ENV_SHIFT, Why.ENV_SHIFT]


def test_a_control_that_surely_moved_is_a_shift_and_a_noisy_or_small_one_is_not() -> None:
    def control(mean: float, sd: float) -> np.ndarray:
        return np.array(noisy(mean, sd, rounds=6))

    assert shifted(control(0.02, 0.002), RELEASE) and shifted(np.hstack([control(0.0, 0.002), control(-0.02, 0.002)]), RELEASE)
    assert not shifted(control(0.02, 0.05), RELEASE) and not shifted(control(0.006, 0.0005), RELEASE)


def test_a_cell_needs_further_rounds_until_a_look_labels_it_or_its_last_one_is_over() -> None:
    d = np.hstack([noisy(0.0, 0.002), noisy(0.0, 0.05)])
    assert undecided(d[:3], RELEASE).tolist() == [True, True]  # before the first look
    assert undecided(d[:4], RELEASE).tolist() == undecided(d[:5], RELEASE).tolist() == [False, True]
    assert undecided(d, RELEASE).tolist() == [False, False]


@settings(max_examples=200)
@given(seed=st.integers(0, 100_000), cells=st.integers(1, 8), sd=st.floats(0.001, 0.03), shift=st.floats(-0.06, 0.06))
def test_a_label_is_the_same_whether_settled_cells_are_timed_on_or_not(seed: int, cells: int, sd: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(shift * rng.integers(0, 2, cells), sd, (14, cells))
    codes, given = labels(d, RELEASE)
    left = np.where((codes != Code.OPEN) & (np.arange(14)[:, None] >= given), np.nan, d)
    assert [found.tolist() for found in labels(left, RELEASE)] == [codes.tolist(), given.tolist()]
    names = [f"cell{place}" for place in range(cells)]
    assert verdicts(left, names, RELEASE) == verdicts(d, names, RELEASE)


def test_until_calibration_a_change_takes_six_rounds_and_sameness_four() -> None:
    unknown, calm = rule_for("gate"), rule_for("gate", sigma_0=0.004, two_mode=False)
    assert (unknown.first_change, calm.first_change, unknown.looks) == (6, 4, (4, 6, 9))
    assert rule_for("gate", sigma_0=0.02, two_mode=False).first_change == 6
    slower, same = noisy(0.05, 0.002), noisy(0.0, 0.002)
    assert judged(slower, unknown)[0].numbers.rounds == 6 and judged(same, unknown)[0].numbers.rounds == 4
    assert judged(slower, calm)[0].numbers.rounds == 4


def test_a_quick_profile_only_screens() -> None:
    (found,) = judged(noisy(0.10, 0.002, rounds=4), rule_for("quick"))
    assert (found.label, found.why) == (Label.INCONCLUSIVE, Why.OPEN)


def test_a_change_beyond_the_margin_that_a_quick_profile_may_not_claim_lacks_pairs_and_is_not_called_noise() -> None:
    d = np.random.default_rng(5).normal(1.15, 0.01, (4, 1))
    (verdict,) = verdicts(d, ["cell"], rule_for("quick"))
    assert (verdict.label, verdict.why) == (Label.INCONCLUSIVE, Why.OPEN) and verdict.numbers.low > verdict.numbers.margin


def test_a_verdict_without_a_label_needs_a_reason_and_one_with_a_label_has_none() -> None:
    numbers = judged(noisy(0.0, 0.002))[0].numbers
    for label, why in ((Label.INCONCLUSIVE, None), (Label.REGRESSED, Why.NOISE)):
        with pytest.raises(ValueError, match="contradicts itself"):
            CellVerdict(label, why, numbers)
