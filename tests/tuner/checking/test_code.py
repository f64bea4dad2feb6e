"""What arms launch today beside what they launched, as far as a driver tells."""

from __future__ import annotations

from dataclasses import replace

from backends.outcome import Outcome
from backends.reason import Reason
from store.scenario import Exclusion
from tests.tuner.building import DECODE, PREFILL
from tests.tuner.checking.upgraded import FA3, FLASHINFER, launching, measured, rests, then
from tuner.checking.code import glance, is_same, launched, lost, no_other, of_seats
from tuner.checking.measuring import same_code
from tuner.checking.pinned import Pinned
from tuner.pin import pin_of


def test_the_same_launches_are_the_same_code_where_the_driver_tells_and_maybe_where_it_does_not() -> None:
    told, untold = launched(launching(then()), launching(measured(seed=4))), launched(then(), measured(seed=4))
    assert all(map(is_same, told)) and all(map(no_other, told))
    assert not any(map(is_same, untold)) and all(map(no_other, untold))


def test_one_kernel_of_other_code_is_enough_for_times_to_be_wanted() -> None:
    before = launching(then())
    assert before.decision is not None
    pinned = Pinned(pin_of(before, before.decision, ("e", "0")), before, rests(before))
    assert same_code(pinned, launching(measured(seed=4), wave=7))  # nothing rests on that one
    assert not same_code(pinned, launching(measured(seed=4), flashinfer=7))
    (changed,) = of_seats(launched(before, launching(measured(seed=4), flashinfer=7)), before, pinned.rests.at_stake)
    assert (changed.arm, changed.cell, changed.kernels) == (FLASHINFER, DECODE, "flashinfer_kernel: other machine code")


def test_an_arm_that_fails_or_is_left_out_today_is_lost_with_its_reason() -> None:
    failed = measured(failures={(FLASHINFER, DECODE): (Outcome.INCORRECT, "4096 of 4096 elements are NaN")})
    assert [(each.arm, each.cell, each.outcome, each.detail) for each in lost(then(), failed, rests(then()))] == [
        (FLASHINFER, DECODE, Outcome.INCORRECT, "4096 of 4096 elements are NaN")
    ]
    reason = Reason("module", "flashinfer is not installed", "flashinfer-python", "install it", "conf")
    gone = replace(measured({"fa3": (500.0, 100.0)}), exclusions=(Exclusion("flashinfer", None, (reason,)),))
    (found,) = lost(then(), gone, rests(then()))
    assert (found.arm, found.cell, found.outcome) == (FLASHINFER, DECODE, Outcome.REFUSED)
    assert found.detail == "it is left out today: flashinfer is not installed; install it"


def test_the_one_time_that_is_shown_is_of_the_cell_that_counts_most() -> None:
    found = glance(then(), measured(seed=4), launched(then(), measured(seed=4)))
    assert found is not None and (found.arm, found.cell, found.old_us) == (FA3, DECODE, 100.0) and found.cell != PREFILL
