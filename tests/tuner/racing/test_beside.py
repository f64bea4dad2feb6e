"""Rounds begun before their turn: the race goes as it would on one board."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.measured import Round
from store.runs.run import Run
from tests.tuner.building import DECIDE
from tests.tuner.racing.playing import play, seated, started
from tuner.racing.beside import at_its_turn, beside
from tuner.racing.next_round import NextRound, next_round

EAGER = replace(DECIDE, min_gain=0.001)
CLOSE = {"fa3": (500.0, 100.0), "flashinfer": (490.0, 97.0), "triton": (505.0, 101.0)}
APART = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0), "triton": (900.0, 150.0)}
ALONE = {"fa3": (500.0, 100.0), "triton": (900.0, 150.0)}


def play_on(boards: int, whole: Run, everyone: bool = False) -> Run:
    """As `play`, on several boards, each of which is handed what may be begun as soon as it is idle."""
    run, there = replace(whole, rounds=()), dict[int, Round]()
    while coming := next_round(run, everyone=everyone):
        for each in (coming, *beside(run, coming, everyone))[:boards]:
            there.setdefault(each.index, seated(whole.rounds[each.index], each))
        measured = at_its_turn(there.pop(coming.index), coming) or seated(whole.rounds[coming.index], coming)
        run = replace(run, rounds=(*run.rounds, measured))
    return run


@pytest.mark.parametrize("boards", [2, 3, 8])
@pytest.mark.parametrize("times", [CLOSE, APART, ALONE], ids=["close", "apart", "alone"])
def test_a_race_has_the_same_rounds_on_any_number_of_boards(times: dict[str, tuple[float, float]], boards: int) -> None:
    for seed in range(3):
        whole = started(times, process_sd=0.006, decide=EAGER, seed=seed)
        assert play_on(boards, whole) == play(whole)


def test_with_everyone_all_rounds_may_be_begun_at_once() -> None:
    whole = started(CLOSE)
    assert len(beside(replace(whole, rounds=()), first(whole, everyone=True), everyone=True)) == 7
    assert play_on(8, whole, everyone=True) == play(whole, everyone=True)


def first(whole: Run, known: int = 0, **how: bool) -> NextRound:
    coming = next_round(replace(whole, rounds=whole.rounds[:known]), **how)
    assert coming is not None
    return coming


@pytest.mark.parametrize(("known", "owed"), [(0, [1, 2, 3]), (2, [3]), (3, []), (4, [5]), (5, [])])
def test_rounds_are_begun_up_to_the_next_look(known: int, owed: list[int]) -> None:
    whole = started(CLOSE, process_sd=0.02, decide=EAGER)
    run = replace(whole, rounds=whole.rounds[:known])
    assert [each.index for each in beside(run, first(whole, known))] == owed


def test_of_the_pick_both_rounds_are_begun_at_once() -> None:
    run = play(started(APART))
    confirming = replace(run, rounds=run.race)
    coming = next_round(confirming)
    assert coming is not None and coming.confirms and [each.index for each in beside(confirming, coming)] == [coming.index + 1]


def test_a_number_that_is_taken_is_not_given_again() -> None:
    """A round of another job on the same run, which stored it first."""
    whole = started(CLOSE)
    run = replace(whole, rounds=(whole.rounds[0], whole.rounds[2]))
    coming = next_round(run)
    assert coming is not None and (coming.index, [each.index for each in beside(run, coming)]) == (1, [3])


def test_what_was_begun_for_another_purpose_or_for_fewer_arms_does_not_count() -> None:
    whole = started(CLOSE)
    coming, fewer = first(whole), first(started(ALONE))
    measured = seated(whole.rounds[0], coming)
    assert at_its_turn(measured, coming) == measured
    assert at_its_turn(measured, replace(coming, confirms=True)) is None
    assert at_its_turn(measured, replace(coming, index=1)) is None
    assert at_its_turn(seated(whole.rounds[0], replace(coming, field=coming.field[:1])), coming) is None
    assert at_its_turn(measured, fewer) == seated(whole.rounds[0], fewer)
