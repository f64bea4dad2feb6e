from __future__ import annotations

from dataclasses import replace

import pytest

from backends.measured import Trial
from backends.outcome import Outcome
from store.database.connect import Store
from store.errors import AlreadyStored, RunClosed, UnknownRun
from store.runs.repository import (
    add_round,
    add_trials,
    add_wall_seconds,
    begin_run,
    finished_run,
    load_run,
    newest_run,
    newest_since,
    save_decision,
    set_cells,
    set_left_out,
)
from store.runs.run_keys import UnknownName
from tests.store.building import a_decision, a_round, a_run, a_trial, all_trials


def test_a_run_comes_back_as_it_was_stored_step_by_step(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    add_trials(store, run.id, all_trials(run))
    add_round(store, run.id, a_round(run, 1))
    add_round(store, run.id, a_round(run, 0))
    add_wall_seconds(store, run.id, [("imports", 1.5), ("timing", 2.0)])
    save_decision(store, run.id, a_decision(run), "finished")
    whole = replace(
        run,
        trials=all_trials(run),
        rounds=(a_round(run, 0), a_round(run, 1)),
        wall_seconds=(("imports", 1.5), ("timing", 2.0)),
        decision=a_decision(run),
        status="finished",
    )
    assert load_run(store, run.id) == whole


def test_an_open_run_of_the_same_digest_is_continued_with_all_it_has(store: Store) -> None:
    first = begin_run(store, a_run("r1"), fresh=False)
    add_trials(store, first.id, all_trials(first))
    add_round(store, first.id, a_round(first, 0))
    continued = begin_run(store, a_run("r2"), fresh=False)
    assert (continued.id, continued.trials, continued.rounds) == ("r1", all_trials(first), (a_round(first, 0),))


def test_the_newest_of_two_open_runs_is_continued(store: Store) -> None:
    begin_run(store, a_run("r1"), fresh=False)
    begin_run(store, a_run("r2"), fresh=True)
    assert begin_run(store, a_run("r3"), fresh=False).id == "r2"


@pytest.mark.parametrize("status", ["finished", "incomplete", "invalid"])
def test_an_ended_run_is_never_continued(store: Store, status: str) -> None:
    run = begin_run(store, a_run("r1"), fresh=False)
    save_decision(store, run.id, None, status)
    assert begin_run(store, a_run("r2"), fresh=False).id == "r2"


@pytest.mark.parametrize(("status", "continued"), [("incomplete", "r1"), ("finished", "r2")])
def test_an_incomplete_run_is_opened_again_when_asked_a_finished_one_is_not(store: Store, status: str, continued: str) -> None:
    first = begin_run(store, a_run("r1"), fresh=False)
    save_decision(store, first.id, None, status)
    again = begin_run(store, a_run("r2"), fresh=False, reopen=True)
    assert (again.id, again.status) == (continued, "running")
    add_trials(store, again.id, all_trials(again))


def test_a_run_of_another_digest_is_not_continued(store: Store) -> None:
    begin_run(store, a_run("r1"), fresh=False)
    assert begin_run(store, replace(a_run("r2"), digest="other"), fresh=False).id == "r2"


def test_the_newest_finished_run_of_a_digest_answers_for_it(store: Store) -> None:
    assert finished_run(store, a_run().digest) is None
    for name, digest, status in (("r1", "a", "finished"), ("r2", "a", "finished"), ("r3", "a", "incomplete"), ("r4", "b", "finished")):
        run = begin_run(store, replace(a_run(name), digest=digest), fresh=True)
        save_decision(store, run.id, a_decision(run), status)
    begin_run(store, replace(a_run("r5"), digest="a"), fresh=True)
    found = finished_run(store, "a")
    assert found is not None and (found.id, found.status) == ("r2", "finished") and finished_run(store, "c") is None


def test_the_newest_run_since_some_moment_is_told_whatever_became_of_it(store: Store) -> None:
    run = a_run("r1")
    begin_run(store, run, fresh=True)
    save_decision(store, run.id, None, "finished")
    later = begin_run(store, replace(a_run("r2"), created="2026-01-03T00:00:00+00:00"), fresh=True)
    assert newest_since(store, run.digest, "2026-01-02T12:00:00+00:00") == later
    assert newest_since(store, run.digest, "2026-01-04T00:00:00+00:00") is newest_since(store, "other", "2026") is None


def test_adding_the_same_round_again_changes_nothing(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    add_round(store, run.id, a_round(run, 0))
    add_round(store, run.id, a_round(run, 0))
    assert load_run(store, run.id).rounds == (a_round(run, 0),)


def test_another_round_of_a_stored_index_is_refused(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    add_round(store, run.id, a_round(run, 0))
    with pytest.raises(AlreadyStored, match="round 0 of run r1 was stored by another process; run the same command again"):
        add_round(store, run.id, replace(a_round(run, 1), index=0))
    assert load_run(store, run.id).rounds == (a_round(run, 0),)


def test_a_round_that_names_an_unknown_arm_leaves_nothing_behind(store: Store) -> None:
    run = begin_run(store, a_run(arms=2), fresh=False)
    with pytest.raises(UnknownName, match="no arm 'triton/p1'; it has 'fa3/p1', 'flashinfer/p1'"):
        add_round(store, run.id, a_round(a_run(arms=3), 0))
    assert load_run(store, run.id).rounds == ()


def test_trials_are_stored_all_or_none(store: Store) -> None:
    run = begin_run(store, a_run(arms=2), fresh=False)
    with pytest.raises(UnknownName):
        add_trials(store, run.id, [a_trial(run, 0, 0), replace(a_trial(run, 0, 1), cell="elsewhere")])
    assert load_run(store, run.id).trials == ()


def test_a_later_trial_stands_behind_an_interrupted_one(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    later = a_trial(run, 0, 0)
    interrupted = Trial(later.arm, later.cell, Outcome.INTERRUPTED, "stdin closed")
    add_trials(store, run.id, [interrupted, a_trial(run, 1, 0)])
    add_trials(store, run.id, [later])
    assert load_run(store, run.id).trials == (interrupted, a_trial(run, 1, 0), later)


def test_an_arm_withdrawn_in_a_round_keeps_what_was_measured_of_it(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    good = a_trial(run, 0, 0)
    withdrawn = Trial(good.arm, good.cell, Outcome.CRASHED, "signal 11 (in round 2, after a good probe)")
    for _ in range(2):
        add_trials(store, run.id, [good, withdrawn])
    assert load_run(store, run.id).trials == (good, withdrawn)
    with pytest.raises(AlreadyStored):
        add_trials(store, run.id, [replace(good, relative_error=0.5)])


def test_a_crash_does_not_give_way_and_the_same_trial_again_is_no_error(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    later = a_trial(run, 0, 0)
    crash = Trial(later.arm, later.cell, Outcome.CRASHED, "signal 11")
    add_trials(store, run.id, [crash])
    add_trials(store, run.id, [crash])
    with pytest.raises(AlreadyStored, match="a trial of fa3/p1 on decode_0 was stored by another process"):
        add_trials(store, run.id, [later])
    assert load_run(store, run.id).trials == (crash,)


def test_a_nul_in_what_a_crash_printed_does_not_cost_the_trial(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    crash = Trial(run.arms[0].name, "decode_0", Outcome.CRASHED, "signal 11: a\0b")
    for _ in range(2):
        add_trials(store, run.id, [crash])
    assert [trial.detail for trial in load_run(store, run.id).trials] == ["signal 11: a\N{REPLACEMENT CHARACTER}b"]


def test_nothing_is_added_to_an_ended_run(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    save_decision(store, run.id, None, "invalid")
    with pytest.raises(RunClosed, match=r"run r1 was ended \(invalid\) by another process"):
        add_round(store, run.id, a_round(run, 0))
    with pytest.raises(RunClosed):
        add_trials(store, run.id, all_trials(run))


def test_wall_seconds_add_up_by_phase(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    add_wall_seconds(store, run.id, [("imports", 1.5)])
    add_wall_seconds(store, run.id, [("timing", 2.0), ("imports", 0.25)])
    assert load_run(store, run.id).wall_seconds == (("imports", 1.75), ("timing", 2.0))


def test_what_the_last_job_left_out_replaces_what_an_earlier_one_did(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    set_left_out(store, run.id, ["not probed: triton/p1", "3 of 9 processes"])
    set_left_out(store, run.id, ["5 of 9 processes"])
    assert load_run(store, run.id).left_out == ("5 of 9 processes",)


def test_an_open_run_gets_cells_beside_those_it_has_whose_trials_stay(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    add_trials(store, run.id, all_trials(run))
    first = run.cells[0]
    more = replace(first, cell=replace(first.cell, name="one more"), calls_per_1000_tokens=2.0)
    cells = (replace(first, calls_per_1000_tokens=3.0, token_share=0.25), *run.cells[1:], more)
    for _ in range(2):  # the second time changes nothing
        set_cells(store, run.id, cells)
        stored = load_run(store, run.id)
        assert (stored.cells, len(stored.trials)) == (cells, len(all_trials(run)))
    add_trials(store, run.id, [replace(a_trial(run, 0, 0), cell="one more")])
    save_decision(store, run.id, a_decision(run), "finished")
    with pytest.raises(RunClosed):
        set_cells(store, run.id, run.cells)


def test_of_several_decisions_the_newest_counts(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    save_decision(store, run.id, a_decision(run), "finished")
    save_decision(store, run.id, replace(a_decision(run), cautions=("again",)), "finished")
    decision = load_run(store, run.id).decision
    assert decision is not None and decision.cautions == ("again",)


def test_a_run_that_is_not_there_is_named_with_the_newest_that_is(store: Store) -> None:
    with pytest.raises(UnknownRun, match="no run 'r9'; it holds none yet"):
        load_run(store, "r9")
    begin_run(store, a_run("r1"), fresh=False)
    with pytest.raises(UnknownRun, match="no run 'r9'; the newest is r1"):
        add_round(store, "r9", a_round(a_run(), 0))


def test_the_newest_run_is_the_one_begun_last(store: Store) -> None:
    assert newest_run(store) is None
    begin_run(store, a_run("r1"), fresh=True)
    begin_run(store, a_run("r2"), fresh=True)
    newest = newest_run(store)
    assert newest is not None and newest.id == "r2"
