"""What is taken over from the probes of an earlier calibration of the same question."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backends.measured import Trial
from backends.outcome import Outcome
from store.database.connect import Store, open_store
from store.runs.repository import begin_run
from store.runs.run import FINISHED, RUNNING, Run
from tests.tuner.building import one_cell_each
from tuner.calibrating.copies import calibration_run, copied
from tuner.calibrating.earlier import LIFE, with_earlier_probes

BEGUN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
TIMES = {"fa3": (9.0, 5.0), "triton": (8.0, 6.0)}


def probed(name: str, begun: datetime = BEGUN, status: str = FINISHED) -> Run:
    run = replace(one_cell_each(TIMES), id=name, created=begun.isoformat(), status=status, notes=("a note of the plan",))
    copies = calibration_run(run, (0.05,))
    return replace(copies, trials=(*run.trials, *copied(run.trials, copies.arms)))


def open_run(name: str = "next") -> Run:
    return replace(probed(name, status=RUNNING), trials=(), rounds=())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"sqlite:///{tmp_path}/attnpin.db")


def kept(store: Store, run: Run) -> Run:
    return begin_run(store, run, fresh=True)


def found(trials: tuple[Trial, ...]) -> set[Trial]:
    """Without where they were found, of the arms themselves."""
    return {replace(trial, probed_in=None) for trial in trials if trial.arm in {f"{name}/p1" for name in TIMES}}


def test_probes_of_the_same_question_are_taken_over_within_a_day_and_a_note_says_whose(store: Store) -> None:
    first = kept(store, probed("first"))
    run = with_earlier_probes(store, open_run(), BEGUN + LIFE)
    assert {replace(trial, probed_in=None) for trial in run.trials} == found(first.trials) and run.rounds == ()
    assert {trial.probed_in for trial in run.trials} == {"first"} and {trial.probed_in for trial in first.trials} == {None}
    assert run.notes[:-1] == first.notes and "run first" in run.notes[-1]
    assert set(kept(store, run).trials) == set(run.trials)


def test_older_ones_are_not_also_where_they_were_handed_on_since(store: Store) -> None:
    kept(store, probed("first"))
    second = replace(with_earlier_probes(store, open_run("second"), BEGUN + 23 * HOUR), created=(BEGUN + 23 * HOUR).isoformat())
    kept(store, replace(second, status=FINISHED))
    third = with_earlier_probes(store, open_run("third"), BEGUN + LIFE)
    assert "run first" in third.notes[-1] and {trial.probed_in for trial in third.trials} == {"first"}
    assert with_earlier_probes(store, open_run("fourth"), BEGUN + LIFE + HOUR) == open_run("fourth")


@pytest.mark.parametrize("earlier", [replace(probed("other"), digest="another"), probed("cut", status=RUNNING)], ids=lambda run: run.id)
def test_another_question_and_an_unfinished_calibration_hand_nothing_on(store: Store, earlier: Run) -> None:
    kept(store, earlier)
    assert with_earlier_probes(store, open_run(), BEGUN) == open_run()


def test_what_failed_is_asked_again(store: Store) -> None:
    first = probed("first")
    lost = next(trial for trial in first.trials if trial.arm == "triton/p1")
    kept(store, replace(first, trials=(*first.trials, Trial(lost.arm, lost.cell, Outcome.CRASHED, "SIGSEGV"))))
    taken = {(trial.arm, trial.cell) for trial in with_earlier_probes(store, open_run(), BEGUN).trials}
    assert taken == {(trial.arm, trial.cell) for trial in found(first.trials)} - {(lost.arm, lost.cell)}
