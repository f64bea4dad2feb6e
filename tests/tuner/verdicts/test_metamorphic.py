"""What must not change a verdict on two versions, and what must turn it over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.verdicts.comparison import CellVerdict, Label
from tuner.arithmetic.statistics import visit_value
from tuner.verdicts.inference import Array
from tuner.verdicts.rule import rule_for
from tuner.verdicts.side_by_side import Code, Codes, labels, verdicts

RULE = rule_for("release", sigma_0=0.006, two_mode=False)
MIRROR = {Code.OPEN: Code.OPEN, Code.EQUIVALENT: Code.EQUIVALENT, Code.REGRESSED: Code.IMPROVED, Code.IMPROVED: Code.REGRESSED}


@st.composite
def sittings(draw: st.DrawFn) -> Array:
    """Differences, (rounds, cells), in which every kind of cell turns up."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = draw(st.integers(1, 6))
    means = rng.choice((0.0, 0.02, 0.05, -0.05), cells)
    return means + rng.normal(0, rng.choice((0.001, 0.008, 0.03), cells), (draw(st.sampled_from((4, 6, 9, 14))), cells))


def codes(d: Array) -> Codes:
    return labels(d, RULE)[0]


def judged(d: Array) -> tuple[CellVerdict, ...]:
    return verdicts(d, [f"cell{place}" for place in range(d.shape[1])], RULE)


@given(d=sittings())
def test_swapping_the_versions_mirrors_every_verdict(d: Array) -> None:
    assert [MIRROR[Code(code)] for code in codes(-d)] == codes(d).tolist()
    for one, other in zip(judged(d), judged(-d)):
        assert (other.numbers.estimate, other.numbers.low) == pytest.approx((-one.numbers.estimate, -one.numbers.high))
        assert other.why == one.why


@given(d=sittings(), seed=st.integers())
def test_the_order_of_rounds_up_to_the_first_look_and_of_cells_does_not_matter(d: Array, seed: int) -> None:
    rng = np.random.default_rng(abs(seed))
    cells = rng.permutation(d.shape[1])
    shuffled = np.vstack([rng.permutation(d[:4]), d[4:]])
    assert codes(d[:, cells]).tolist() == codes(d)[cells].tolist()
    assert codes(shuffled).tolist() == codes(d).tolist()


@given(d=sittings(), seed=st.integers(0, 999), factor=st.floats(0.01, 100), slope=st.floats(-0.05, 0.05))
def test_slower_clocks_and_drift_that_both_versions_share_change_nothing(d: Array, seed: int, factor: float, slope: float) -> None:
    """Of times, not of differences: whatever all arms of a process share cancels in ln(new) - ln(old)."""
    old = np.random.default_rng(seed).normal(3, 0.2, d.shape)
    shared = np.log(factor) + slope * np.arange(len(d))[:, None]
    assert codes((old + d + shared) - (old + shared)).tolist() == codes(d).tolist()


@given(d=sittings())
def test_a_cell_split_in_two_equal_ones_never_makes_a_claim_easier(d: Array) -> None:
    split = codes(np.hstack([d, d]))
    assert split[: d.shape[1]].tolist() == split[d.shape[1] :].tolist()
    changed = {Code.REGRESSED, Code.IMPROVED}
    assert all(one == other or other not in changed for one, other in zip(codes(d), split))


@given(values=st.lists(st.floats(1, 1000), min_size=1, max_size=9), times=st.integers(2, 5))
def test_repeating_every_replay_is_no_more_evidence(values: list[float], times: int) -> None:
    """A round is one number however many samples it was taken from, so that p values cannot change."""
    assert visit_value(values * times) == visit_value(values)


@given(d=sittings())
def test_a_verdict_given_at_a_look_is_still_given_after_later_rounds(d: Array) -> None:
    early, late = codes(d[:4]), codes(d)
    assert all(one == other for one, other in zip(early, late) if one != Code.OPEN)


@pytest.mark.parametrize(("mean", "label"), [(0.0, Label.EQUIVALENT), (0.05, Label.REGRESSED), (-0.05, Label.IMPROVED)])
def test_rounds_that_are_all_alike_are_judged_by_the_floor(mean: float, label: Label) -> None:
    (found,) = judged(np.full((4, 1), mean))
    assert (found.label, found.numbers.standard_error) == (label, RULE.floor / 2)


def test_more_rounds_of_the_same_kind_find_smaller_changes() -> None:
    effects = [judged(np.array([[0.01], [-0.01]] * (rounds // 2)))[0].numbers.minimum_detectable for rounds in (4, 6, 14)]
    assert effects == sorted(effects, reverse=True) and effects[0] > effects[-1]
