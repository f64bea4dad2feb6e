from __future__ import annotations

from dataclasses import replace

import pytest

from store.revisit import Condition, Revisit, Sensitivity
from store.runs.run import Run
from tests.tuner.building import DECODE, one_cell_each
from tests.tuner.revisited import revisited
from tuner.decide import decide

FA3, FLASHINFER, TRITON = "fa3/p1", "flashinfer/p1", "triton/p1"
USUAL = {"fa3": (256.0, 131.0), "flashinfer": (300.0, 135.0), "triton": (300.0, 137.0)}


def run(**times_us: float) -> Run:
    """Under random pages so many us."""
    usual = one_cell_each(USUAL, process_sd=0.0, visit_sd=0.0)
    return revisited(usual, {Condition.RANDOM_PAGES: {f"{backend}/p1": us for backend, us in times_us.items()}})


def found(**times_us: float) -> Sensitivity:
    (only,) = decide(run(**times_us)).sensitivity
    return only


def test_an_order_that_holds_is_told_with_its_times() -> None:
    same = found(fa3=140.0, flashinfer=143.0)
    assert (same.condition, same.cell, same.processes, same.turned, same.pick_changes) == (Condition.RANDOM_PAGES, DECODE, 2, None, False)
    (first, usual, there), (second, *_) = same.times
    assert (first, second) == (FA3, FLASHINFER) and usual == pytest.approx(131.0) and there == pytest.approx(140.0 * 1.01**0.5, rel=1e-4)


def test_a_rival_that_overtakes_the_pick_changes_it() -> None:
    turned = found(fa3=140.0, flashinfer=135.0)
    assert turned.turned == (FA3, FLASHINFER) and turned.pick_changes


def test_a_lead_within_the_tie_margin_is_none() -> None:
    assert found(fa3=136.0, flashinfer=135.0).turned is None


def test_a_lead_that_was_there_already_is_no_turn() -> None:
    already = {Condition.RANDOM_PAGES: {FA3: 140.0, FLASHINFER: 136.0}}
    usual = one_cell_each({"fa3": (256.0, 131.0), "flashinfer": (300.0, 129.0)}, process_sd=0.0, visit_sd=0.0)
    (one,) = decide(revisited(usual, already)).sensitivity
    assert one.turned is None


def test_rivals_that_change_places_behind_the_pick_change_nothing_but_the_order() -> None:
    behind = found(fa3=130.0, flashinfer=140.0, triton=136.0)
    assert behind.turned == (FLASHINFER, TRITON) and not behind.pick_changes


def test_what_all_arms_of_a_process_share_turns_nothing() -> None:
    """The second process lost its rival, and is slower than the first."""
    whole = run(fa3=131.0, flashinfer=135.0)
    first, second = whole.revisits
    ((condition, cell),) = second.under
    alone = replace(cell, visits=tuple(replace(visit, sample_us=(200.0,)) for visit in cell.visits if visit.arm == FA3))
    (one,) = decide(replace(whole, revisits=(first, replace(second, under=((condition, alone),))))).sensitivity
    times = {arm: there for arm, _, there in one.times}
    assert times[FLASHINFER] / times[FA3] == pytest.approx(135 / 131, rel=1e-4) and one.turned is None


def test_an_order_that_turns_is_a_caution_and_one_that_holds_is_not() -> None:
    sentence = "layout-sensitive: under random pages flashinfer/p1 would win by 3.6 %"
    assert any(sentence in caution for caution in decide(run(fa3=140.0, flashinfer=135.0)).cautions)
    assert not any("random pages" in caution for caution in decide(run(fa3=140.0, flashinfer=143.0)).cautions)


def test_what_could_not_be_tried_is_a_caution() -> None:
    failed = Revisit(0, 0, DECODE, 1, failed="fa3/p1: out of memory: none left")
    decision = decide(replace(run(fa3=1.0), revisits=(failed,)))
    expected = "whether the ranking holds under other conditions could not be tried: fa3/p1: out of memory: none left"
    assert expected in decision.cautions and decision.sensitivity == ()


def test_a_revisit_has_times_or_a_sentence() -> None:
    with pytest.raises(ValueError, match="either times or the sentence"):
        Revisit(0, 0, DECODE, 1)
