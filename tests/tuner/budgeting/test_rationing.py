"""Jobs in a maintenance window. Its clock moves as this file says: an arm's probe and a process take so many seconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from backends.cell import Phase
from backends.measured import Trial
from backends.outcome import Outcome
from store.database.connect import open_store
from store.runs.repository import newest_run
from tests.tuner.building import one_cell_each
from tests.tuner.jobs import UNDECIDED, Site
from tuner import job, race
from tuner.budgeting import budget
from tuner.budgeting.budget import Budget
from tuner.budgeting.rationing import admits, left_out
from tuner.device.patience import Patience
from tuner.job import Job
from tuner.race import Measured
from tuner.racing.next_round import NextRound

PROBE_S, ROUND_S = 10.0, 5.0
FIVE, TWO = "measure.processes=5", "measure.processes=2"


@dataclass(frozen=True)
class Window:
    """Site and clock. The clock reads what the store holds: so many arms probed, so many processes measured."""

    site: Site
    slow: frozenset[str]

    def __call__(self) -> float:
        run = newest_run(open_store(self.site.url))
        probed = {trial.arm for trial in run.trials} if run else set()
        return sum(100 if name in self.slow else PROBE_S for name in probed) + ROUND_S * (len(run.rounds) if run else 0)


@pytest.fixture
def window(tmp_path: Path, lock_key: str, scripted: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Site]]:
    def opened(*backends: str, slow: str = "") -> Site:
        site = Site(tmp_path, lock_key, scripted).with_backends(*backends)
        clock = Window(site, frozenset([f"{slow}/p1@kernel"]))
        monkeypatch.setattr(budget, "expected_probe_s", lambda scenario, timed: 100.0 if timed[0][0].backend == slow else PROBE_S)
        monkeypatch.setattr(budget, "expected_round_s", lambda scenario, timed: ROUND_S)
        monkeypatch.setattr(job, "budget_for", lambda run, limit_s: Budget(limit_s, clock))
        return site

    yield opened


def test_processes_are_fewer_where_time_is_short_and_that_is_said(window: Callable[..., Site], capsys: pytest.CaptureFixture[str]) -> None:
    site = window("works")
    assert site.tune(FIVE, *UNDECIDED, "measure.budget_s=42") == 0  # two probes, then four processes and a rest of 2 s
    assert (site.run.status, len(site.run.rounds)) == ("finished", 4)
    assert site.run.left_out == ("4 of at most 5 processes were measured in the 42 s of measure.budget_s",)
    out = capsys.readouterr().out
    assert "no time   4 of at most 5 processes were measured in the 42 s of measure.budget_s" in out
    assert "- **Left out for time**: 4 of at most 5 processes were measured" in site.pin_path.with_suffix(".md").read_text()


def test_an_arm_that_would_cost_the_decision_is_not_probed(window: Callable[..., Site]) -> None:
    site = window("works", "takes_long", slow="takes_long")
    assert site.tune(TWO, "measure.budget_s=60") == 0
    assert {trial.arm for trial in site.run.trials} == {"torch_native/p1@kernel", "works/p1@kernel"}
    assert site.run.left_out == ("not probed in the 60 s of measure.budget_s: takes_long/p1@kernel",)
    assert len(site.run.rounds) == 2


def test_a_window_too_small_for_a_decision_pins_nothing_and_the_next_goes_on(
    window: Callable[..., Site], capsys: pytest.CaptureFixture[str]
) -> None:
    site = window("works", "takes_long", slow="takes_long")
    assert site.tune(TWO, "measure.budget_s=25") == 3
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.fullmatch(
        r"attnpin: the 25 s of measure.budget_s ended with 2 of 3 arms probed and 0 of at least 2 processes measured; "
        r"what was measured is kept in run \S+, the same command goes on with it",
        last,
    )
    begun = site.run
    assert begun.status == "running" and not site.pin_path.exists()  # nor a process: an arm may be probed in another window
    assert site.tune(TWO, "measure.budget_s=1000") == 0
    assert (site.run.id, len(site.run.rounds), site.run.left_out) == (begun.id, 2, ())
    assert {trial.arm for trial in site.run.trials} == {arm.name for arm in site.run.arms}


@pytest.mark.parametrize("later", [(), ("measure.budget_s=1000",)])
def test_an_arm_that_a_window_left_out_is_not_laid_at_the_door_of_the_job_that_goes_on(
    window: Callable[..., Site], later: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = window("works", "takes_long", slow="takes_long")
    with monkeypatch.context() as patch:
        patch.setattr(race, "run_round", interrupted_after(1))
        assert site.tune(TWO, "measure.budget_s=60") == 130
    assert (site.run.status, len(site.run.rounds)) == ("running", 1)
    assert site.tune(TWO, *later) == 0
    said = "not probed before the first process, and none may join later: takes_long/p1@kernel"
    assert (site.run.status, len(site.run.rounds), site.run.left_out) == ("finished", 2, (said,))
    assert f"no time   {said.partition(':')[0]}" in capsys.readouterr().out
    assert "- **Left out for time**: not probed before the first process" in site.pin_path.with_suffix(".md").read_text()


def test_processes_that_no_arm_was_left_for_are_not_missing_for_want_of_time() -> None:
    run = one_cell_each({"fa3": (500.0, 100.0)}, processes=2)
    run = replace(run, scenario=replace(run.scenario, measure=replace(run.scenario.measure, processes=4)))
    assert left_out(run, Budget()) == ("2 of at most 4 processes were measured",)
    failed = tuple(Trial(trial.arm, trial.cell, Outcome.CRASHED, "signal 11") for trial in run.trials)
    assert left_out(replace(run, trials=failed), Budget()) == ()


def interrupted_after(rounds: int) -> Callable[[Job, NextRound, Patience, Measured], None]:
    original = race.run_round

    def run_round(job: Job, coming: NextRound, patience: Patience, measured: Measured) -> None:
        if coming.index == rounds:
            raise KeyboardInterrupt
        original(job, coming, patience, measured)

    return run_round


def test_processes_of_several_windows_add_up(window: Callable[..., Site]) -> None:
    site = window("works")
    assert site.tune(FIVE, "measure.budget_s=32") == 3  # two probes, two processes
    assert (site.run.status, len(site.run.rounds)) == ("running", 2)
    assert site.tune(FIVE, "measure.budget_s=11") == 0
    assert (site.run.status, len(site.run.rounds)) == ("finished", 4)
    assert site.pin.run == site.run.id


def test_nothing_is_begun_that_does_not_end_in_time(window: Callable[..., Site]) -> None:
    site = window("works")
    assert site.tune("measure.budget_s=9") == 3
    assert site.run.trials == ()
    assert site.tune("measure.budget_s=19") == 3
    assert {trial.arm for trial in site.run.trials} == {"torch_native/p1@kernel"}  # the default first


def test_an_arm_that_missed_the_first_process_joins_no_later_one() -> None:
    run = one_cell_each({"fa3": (500.0, 100.0), "triton": (600.0, 80.0)})
    job = Job(run.scenario, None, run.id, None, None, run.arms, run.cells, default={Phase.DECODE: "fa3/p1", Phase.PREFILL: "fa3/p1"})
    default, rival = run.arms
    assert [admits(job, arm, (), rounds=0) for arm in (default, rival)] == [True, True]
    assert [admits(job, arm, (), rounds=1) for arm in (default, rival)] == [True, False]
