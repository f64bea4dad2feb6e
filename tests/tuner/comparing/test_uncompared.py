"""Arms that one side cannot be held against the other: said, and no reason to call the rest of a comparison settled."""

from __future__ import annotations

from dataclasses import replace

from backends.measured import Identity, Trial
from backends.outcome import Outcome
from reports.side_by_side import headline, render_text
from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label
from tests.store.building import all_trials
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import GATE, RUN, times
from tuner.comparing.judge import judge

FA3, FLASHINFER = (arm.name for arm in RUN.arms)
CELLS = [weighted.cell.name for weighted in RUN.cells]
TRIALS = all_trials(RUN)


def failed(trial: Trial) -> Trial:
    return Trial(trial.arm, trial.cell, Outcome.INCORRECT, "NaN") if trial.arm == FLASHINFER else trial


def eager(trial: Trial) -> Trial:
    return replace(trial, identity=Identity("fa2", "eager", ())) if trial.arm == FLASHINFER else trial


def of_trials(old: tuple[Trial, ...], new: tuple[Trial, ...], arms: tuple[str, ...] = (FA3,), rounds: int = 6) -> SideBySide:
    measured = compared(RUN, rounds, times(), arms=arms)
    return replace(measured, baseline=replace(measured.baseline, trials=old), candidate=replace(measured.candidate, trials=new))


def test_an_arm_that_fails_in_the_baseline_is_named_and_blamed_on_nothing() -> None:
    verdict = judge(of_trials(tuple(map(failed, TRIALS)), TRIALS), GATE)
    said = f"{FLASHINFER} is incorrect in the baseline on {', '.join(CELLS)} (NaN); in the candidate it runs there; nothing is compared"
    assert said in verdict.notes and (verdict.label, verdict.exit_code) == (Label.EQUIVALENT, 0)
    both = judge(of_trials(tuple(map(failed, TRIALS)), tuple(map(failed, TRIALS))), GATE)
    assert any(f"it runs on 0 of these {len(CELLS)} cells" in note for note in both.notes) and both.broken == ()


def test_an_arm_that_is_served_in_another_mode_leaves_the_question_open() -> None:
    measured = of_trials(TRIALS, tuple(map(eager, TRIALS)))
    verdict = judge(measured, GATE)
    said = f"{FLASHINFER} was served in graph mode and is in eager mode now on {', '.join(CELLS)}, and times of the two do not compare"
    assert (verdict.label, verdict.exit_code) == (Label.INCONCLUSIVE, 3) and verdict.unlike == (said,)
    assert headline(measured, verdict) == f"inconclusive: {said}" and f"note       {said}" in render_text(measured, verdict)


def test_where_every_arm_runs_alike_nothing_is_said() -> None:
    verdict = judge(of_trials(TRIALS, TRIALS, arms=(FA3, FLASHINFER)), GATE)
    assert verdict.unlike == () and not any("nothing is compared" in note for note in verdict.notes)
