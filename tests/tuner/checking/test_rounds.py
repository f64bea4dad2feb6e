"""How many processes a check takes against stored times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from store.runs.run import Run
from store.verdicts.verdict import Change
from tests.tuner.checking.upgraded import FA3, FLASHINFER, TIMES, WAVE, measured, rests, then, times
from tuner.arithmetic.looks import RANKING
from tuner.checking.pinned import Pinned
from tuner.checking.resting import EVERYTHING
from tuner.checking.rounds import first_look, next_of
from tuner.pin import pin_of
from tuner.racing.next_round import NextRound
from tuner.verdicts.session import assumed
from tuner.verdicts.stored import FEWEST

NEW_DRIVER = Change("driver", "570.1", "580.2", (EVERYTHING,))


def raced(processes: int, most: int, arms: tuple[str, ...] = tuple(TIMES), **changes: Any) -> Run:
    """A run with so many of the ``most`` processes behind it."""
    return measured({name: TIMES[name] for name in arms}, processes=processes, asked=most, default=(arms[0], arms[0]), **changes)


def coming(run: Run, *changes: Change) -> NextRound | None:
    """Of the check of a pin of FlashInfer's decode, after an upgrade of that unless ``changes`` are named."""
    names = [arm.backend for arm in run.arms]
    made = then({name: TIMES[name] for name in names}, default=(names[0], names[0]))
    assert made.decision is not None
    return next_of(Pinned(pin_of(made, made.decision, ("e", "0")), made, rests(made, *changes)), run)


@pytest.mark.parametrize(("most", "looked"), [(3, 3), (4, 4), (8, RANKING[0]), (14, RANKING[0])])
def test_every_arm_is_timed_up_to_the_first_look_of_a_race_however_slow(most: int, looked: int) -> None:
    assert first_look(raced(looked, most)) == looked
    assert coming(raced(looked, most)) is None
    open_ = coming(raced(looked - 1, most))
    assert open_ is not None and {arm.name for arm in open_.arms} == {FA3, FLASHINFER, WAVE}


def test_where_rivals_changed_too_it_goes_on_as_a_race_does_and_ends_before_it_is_confirmed() -> None:
    assert coming(raced(4, 8), NEW_DRIVER) is None  # over: FlashInfer decodes in half the time
    near = measured(times(flashinfer=1.9), processes=4, asked=8, process_sd=0.02)
    further = coming(near, NEW_DRIVER)
    assert further is not None and not further.confirms and {arm.name for arm in further.arms} == {FA3, FLASHINFER}
    assert coming(near) is None


def test_a_rival_that_changed_and_is_surely_slower_leaves_as_in_a_race_and_what_nothing_touched_stays() -> None:
    made = then({**TIMES, "flashinfer": (520.0, 150.0)}, processes=1, asked=8)
    assert made.decision is not None and not made.decision.flags
    run = replace(then({**TIMES, "flashinfer": (520.0, 150.0)}, asked=8), rounds=made.rounds)

    def arms(*changes: Change) -> set[str]:
        found = next_of(Pinned(pin_of(run, made.decision, ("e", "0")), run, rests(run, *changes)), run)  # type: ignore[arg-type]
        return set() if found is None else {arm.name for arm in found.arms}

    assert FA3 in arms(NEW_DRIVER) and WAVE not in arms(NEW_DRIVER)
    assert {FA3, WAVE} <= arms()  # an upgrade of FlashInfer touches neither


def test_an_arm_alone_takes_the_fewest_that_may_be_compared() -> None:
    alone = raced(FEWEST, 14, ("flashinfer",))
    assert first_look(alone) == FEWEST and coming(alone, NEW_DRIVER) is None


def test_more_processes_would_hardly_make_the_screen_surer() -> None:
    """By its formula, with the usual noise of a process: what two sittings differ by stays."""
    process_sd, sitting = 0.006, 2 * assumed(same_board=True).sigma ** 2
    few, many = ((sitting + process_sd**2 / taken + process_sd**2 / 14) ** 0.5 for taken in (RANKING[0], 14))
    assert few / many < 1.02
