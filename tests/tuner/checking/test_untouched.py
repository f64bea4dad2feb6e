"""What a pin's own run still tells of arms that nothing touched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store.runs.run import Run
from store.verdicts.verdict import Change
from tests.tuner.building import DECODE, PREFILL
from tests.tuner.checking.upgraded import FA3, FLASHINFER, WAVE, measured, rests, screen, then
from tuner.checking.resting import EVERYTHING
from tuner.checking.untouched import probes_of, recoded, watched

ALL = rests(then(), Change("driver", "570.1", "580.2", (EVERYTHING,)))


def coded(run: Run, **codes: str) -> Run:
    """With the code of each arm's kernels as a driver told it in every round, by backend; untold where none is named."""
    told = tuple((f"{backend}/p1", code) for backend, code in codes.items())
    rounds = tuple(replace(each, cells=tuple(replace(cell, code_ids=told) for cell in each.cells)) for each in run.rounds)
    return replace(run, rounds=rounds)


def test_probes_of_what_nothing_touched_hold_and_say_where_they_are_from() -> None:
    run = then()
    found = probes_of(run, run.arms, rests(run))
    assert {(trial.arm, trial.cell, trial.probed_in) for trial in found} == {
        (arm, cell, run.id) for arm in (FA3, WAVE) for cell in (DECODE, PREFILL)
    }
    assert probes_of(run, run.arms, ALL) == ()


def test_what_is_known_already_is_not_taken_over_again_and_what_was_handed_on_keeps_its_origin() -> None:
    run = then()
    handed_on = replace(run, trials=tuple(replace(trial, probed_in="an earlier one") for trial in run.trials))
    found = probes_of(handed_on, run.arms, rests(run), {(FA3, DECODE), (WAVE, DECODE), (WAVE, PREFILL)})
    assert [(trial.arm, trial.cell, trial.probed_in) for trial in found] == [(FA3, PREFILL, "an earlier one")]


def test_of_a_run_that_was_narrowed_to_some_cells_these_alone_are_taken_over() -> None:
    run = then()
    narrowed = replace(run, cells=tuple(weighted for weighted in run.cells if weighted.cell.name == DECODE))
    assert {trial.cell for trial in probes_of(narrowed, run.arms, rests(run))} == {DECODE}


def test_an_arm_that_chooses_by_timing_is_probed_again_since_every_process_chooses_anew() -> None:
    run = then()
    tuned = replace(run, trials=tuple(replace(each, autotuned=(("kernel", "64"),)) if each.arm == WAVE else each for each in run.trials))
    assert {trial.arm for trial in probes_of(tuned, run.arms, rests(run))} == {FA3}


def test_the_board_is_watched_where_an_arm_that_nothing_touched_is_timed_on_every_cell_in_question() -> None:
    run = then()
    assert watched(run, measured(seed=4), rests(run))
    assert not watched(run, measured(seed=4), ALL)
    alone = then({"flashinfer": (520.0, 50.0)}, default=("flashinfer", "flashinfer"))
    assert not watched(alone, measured({"flashinfer": (520.0, 50.0)}), rests(alone))


@pytest.mark.parametrize(("today", "control"), [("a", True), ("b", False)])
def test_an_arm_whose_kernels_are_others_in_today_s_rounds_is_no_control_though_nothing_that_is_known_touched_it(
    today: str, control: bool
) -> None:
    before, now = coded(then(), fa3="a", wave="w"), coded(measured(seed=4), fa3=today)
    assert recoded(before, now) == frozenset(() if control else ((FA3, DECODE), (FA3, PREFILL)))
    assert (FA3 in screen(now, before).controls[DECODE]) == control
    assert WAVE in screen(now, before).controls[DECODE] and FLASHINFER not in screen(now, before).controls[DECODE]
