"""The pick once more: whose numbers are reported, and what becomes of a gain that does not hold."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean

import pytest

from backends.measured import Round, Visit
from store.decision import Decision, PairScore, Ruling
from store.runs.run import Run
from tests.tuner.building import DECODE, one_cell_each
from tests.tuner.racing.playing import play, started
from tuner.arithmetic.statistics import interval
from tuner.decide import decide
from tuner.deciding.confirmation import UNCONFIRMED

TIMES = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0)}
RUN = play(started(TIMES))


def slowed(run: Run, factor: float) -> Run:
    """The rival ``factor`` times as slow in the processes after the choice."""

    def visit(made: Visit) -> Visit:
        return replace(made, sample_us=(made.sample_us[0] * factor,)) if made.arm.startswith("flashinfer") else made

    def process(measured: Round) -> Round:
        cells = tuple(replace(cell, visits=tuple(map(visit, cell.visits))) for cell in measured.cells)
        return replace(measured, cells=cells) if measured.confirms else measured

    return replace(run, rounds=tuple(map(process, run.rounds)))


def picked(decision: Decision) -> PairScore:
    return next(score for score in decision.scores if score.pair == decision.pick)


def test_the_reported_numbers_of_a_pick_are_those_of_the_fresh_processes() -> None:
    before, after = decide(replace(RUN, rounds=RUN.race)), decide(RUN)
    assert before.ruling is after.ruling is Ruling.SWITCH and before.pick == after.pick
    ratio, chosen_at = picked(after).ratio, after.chosen_at
    assert ratio and ratio.processes == 2 and chosen_at == picked(before).ratio
    assert picked(after).objective_ms != picked(before).objective_ms
    fresh = decide(slowed(RUN, 1.02))
    assert picked(fresh).ratio.estimate > ratio.estimate and fresh.chosen_at == chosen_at
    assert dict(fresh.because) != dict(after.because)
    cell = next(one.ratio for one in fresh.cells if (one.arm, one.cell) == ("flashinfer/p1", DECODE))
    assert cell and cell.processes == 2


def test_their_spread_is_pooled_with_that_of_the_race_their_mean_is_not() -> None:
    fresh, race = [0.02, 0.021], [0.5, 0.502, 0.498, 0.5]
    alone, pooled = interval(fresh, 0.95, 0.0001), interval(fresh, 0.95, 0.0001, race)
    assert alone and pooled and alone.estimate == pooled.estimate == math.exp(fmean(fresh))
    assert 1 < pooled.high / pooled.low < alone.high / alone.low


def test_a_gain_that_does_not_hold_is_not_pinned_and_what_was_seen_is_said() -> None:
    found = decide(slowed(RUN, 1.25))
    assert (found.ruling, found.pick, found.flags, found.chosen_at) == (Ruling.KEEP, found.default, (), None)
    assert found.unset_because and " by the 4 processes it was chosen by, but in 2 fresh ones a step is " in found.unset_because
    assert found.unset_because.endswith("which is not surely 1.0 % faster")


def test_a_cell_that_is_lost_in_the_fresh_processes_keeps_the_pick_out_too() -> None:
    found = decide(slowed(RUN, 1.4))
    assert found.ruling is Ruling.KEEP and found.unset_because
    assert "but in 2 fresh ones flashinfer takes 1.1" in found.unset_because and "not surely within 5.0 % of it" in found.unset_because


@pytest.mark.parametrize("rounds", [RUN.race, RUN.rounds[:-1]])
def test_a_pick_that_was_not_measured_again_says_so(rounds: tuple[object, ...]) -> None:
    found = decide(replace(RUN, rounds=rounds))
    assert found.ruling is Ruling.SWITCH and found.chosen_at is None and UNCONFIRMED in found.cautions


def test_processes_that_measured_another_pick_again_say_nothing_of_this_one() -> None:
    without = tuple(replace(one, cells=()) if one.confirms else one for one in RUN.rounds)
    assert UNCONFIRMED in decide(replace(RUN, rounds=without)).cautions


def test_what_was_measured_after_the_choice_has_no_say_in_it() -> None:
    quick = decide(slowed(RUN, 0.5))
    assert quick.best_set == decide(RUN).best_set and quick.minimum_detectable_effect == decide(RUN).minimum_detectable_effect


def test_a_switch_without_fresh_processes_is_what_it_was_before_there_were_any() -> None:
    assert decide(one_cell_each(TIMES)).ruling is Ruling.SWITCH
