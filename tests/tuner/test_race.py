from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from backends.outcome import Outcome
from store.runs.run import Run
from tests.tuner.building import DECODE as DECODE_64
from tests.tuner.building import arm, one_cell_each
from tests.tuner.jobs import DECODE, PREFILL, Site, default_driver, details, outcomes, raced
from tests.tuner.scripted import scripted_cell_round
from tuner.race import leader, round_seed, withdrawals
from tuner.racing.sieve import Entrant
from tuner.workers.failure import Place, WorkerFailed

NewSite = Callable[..., Site]


@pytest.fixture(scope="module")
def new_site(tmp_path_factory: pytest.TempPathFactory, lock_key: str, scripted: bytes) -> NewSite:
    return lambda *names: Site(tmp_path_factory.mktemp("site"), lock_key, scripted).with_backends(*names)


@pytest.fixture(scope="module")
def run(new_site: NewSite) -> Run:
    """Three arms that are good alone and fail beside others, one that does not, and a process that dies once for no reason."""
    site = new_site("works", "segfaults_in_rounds", "fails_in_rounds", "has_no_seat", "breaks_a_round_off")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCRIPTED_FOLDER", str(site.folder))
        assert site.tune() == 0
    return site.run


def test_rounds_are_run_again_without_the_arms_that_fail_in_them_until_all_are_there(run: Run) -> None:
    whole = {(backend, cell) for backend in ("torch_native", "works", "breaks_a_round_off") for cell in (DECODE, PREFILL)}
    assert run.status == "finished" and [measured.index for measured in run.rounds] == [0, 1]
    assert raced(run, 0) == raced(run, 1) == whole | {("fails_in_rounds", PREFILL)}


def test_an_arm_that_failed_in_a_round_has_that_outcome_behind_its_good_probe(run: Run) -> None:
    assert outcomes(run, "fails_in_rounds") == {DECODE: "incorrect", PREFILL: "measured"}
    assert [trial.outcome for trial in run.trials if trial.arm == "fails_in_rounds/p1@kernel"].count(Outcome.MEASURED) == 2
    assert "relative error 0.3 is above 0.001 (in round 1, after a good probe)" in details(run, "fails_in_rounds")
    assert outcomes(run, "segfaults_in_rounds") == {DECODE: "crashed", PREFILL: "crashed"}  # one round each


def test_an_arm_that_finds_no_seat_in_a_round_is_withdrawn_from_all_cells(run: Run) -> None:
    assert outcomes(run, "has_no_seat") == {DECODE: "out of memory", PREFILL: "out of memory"}


def test_a_round_is_stored_as_the_worker_measured_it_and_labelled(run: Run) -> None:
    for measured in run.rounds:
        for cell in measured.cells:
            arms = list(dict.fromkeys(visit.arm for visit in cell.visits))
            assert cell == scripted_cell_round(measured.index, arms, cell.cell, run.scenario.measure.timing.replays)
        assert measured.labels == ("exclusivity not verifiable",)  # a processor has no NVML


def test_a_process_that_dies_again_and_again_without_an_arm_to_blame_ends_the_job_and_keeps_the_run_open(
    new_site: NewSite, capsys: pytest.CaptureFixture[str]
) -> None:
    site = new_site("breaks_rounds_off")
    assert site.tune() == 4
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "attnpin: round 1 broke off 4 times, last with: SystemExit: a library gave up; run the same command again"
    assert site.run.status == "running" and len(site.run.trials) == 4 and site.run.rounds == ()


def test_a_default_that_fails_in_a_round_is_done_without_where_that_is_asked(new_site: NewSite) -> None:
    site = new_site("works")
    assert site.tune(default_driver("scripted:has_no_seat"), "without_default=true") == 0
    assert site.pin.flags == (("attention-backend", "works"),) and site.run.status == "finished"


def failed(outcome: Outcome = Outcome.CRASHED, arm_name: str | None = "fa3/p1", cell: str | None = "a") -> WorkerFailed:
    return WorkerFailed(outcome, "why", Place("timing", arm_name, cell))


FIELD = (Entrant(arm("fa3"), frozenset("ab")), Entrant(arm("triton"), frozenset("abc")))


@pytest.mark.parametrize(
    ("failure", "cells"),
    [
        (failed(), ["a"]),
        (failed(cell=None), ["a", "b"]),
        (failed(cell="c"), ["a", "b"]),  # a cell it does not race on: it failed between two
        (failed(arm_name=None), []),
        (failed(arm_name="flashinfer/p1"), []),
        (failed(Outcome.INTERRUPTED), []),
    ],
)
def test_what_is_withdrawn_is_the_cell_it_failed_on_or_all_of_its_cells(failure: WorkerFailed, cells: list[str]) -> None:
    found = withdrawals(failure, FIELD, 2)
    assert [(trial.arm, trial.cell) for trial in found] == [("fa3/p1", cell) for cell in cells]
    assert all(trial.detail == "why (in round 3, after a good probe)" for trial in found)


def test_rounds_and_seeds_of_a_run_have_unrelated_seeds_of_their_own() -> None:
    def seeds(seed: int) -> list[int]:
        job = SimpleNamespace(scenario=SimpleNamespace(measure=SimpleNamespace(seed=seed)))
        return [round_seed(job, index) for index in range(5)]

    assert seeds(0) == seeds(0)
    assert len({*seeds(0), *seeds(1)}) == 10


def test_the_leader_is_the_fastest_pair_that_may_be_ranked() -> None:
    table = {"fa3": (500.0, 100.0), "triton": (600.0, 80.0), "flex_attention": (900.0, 10.0)}
    eager = {("flex_attention/p1", DECODE_64): "eager"}
    assert leader(one_cell_each(table, modes=eager)).startswith("prefill fa3/p1, decode triton/p1, 48.0 ms")
    assert leader(one_cell_each({})) == ""


def test_a_default_that_fails_in_a_round_leaves_the_run_incomplete_which_is_decided_without_it_and_not_measured_again(
    new_site: NewSite, capsys: pytest.CaptureFixture[str]
) -> None:
    site = new_site("works")
    assert site.tune(default_driver("scripted:has_no_seat")) == 3
    text, first = capsys.readouterr().out, site.run
    assert "incomplete: the default (torch_native) was not measured: " in text and "out of memory: no room for a second" in text
    assert first.status == "incomplete" and not site.pin_path.exists()
    assert site.tune(default_driver("scripted:has_no_seat"), "without_default=true") == 0
    assert (site.run.id, site.run.trials, site.run.rounds) == (first.id, first.trials, first.rounds)
    assert site.pin.flags == (("attention-backend", "works"),)
