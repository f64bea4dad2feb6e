from __future__ import annotations

from dataclasses import replace

import pytest

from backends.measured import Trial
from backends.outcome import Outcome
from backends.reason import Reason
from store.runs.run import Run
from store.scenario import Exclusion
from tests.tuner.building import arm, decode, prefill
from tests.tuner.jobs import DECODE, DEFAULT, PREFILL, Site, details, outcomes, raced
from tests.tuner.scripted import scripted_trial
from tuner.probe import open_cells

FAILING = ("segfaults", "dies_at_import", "hangs", "runs_out_of_memory", "answers_wrongly", "misses_a_module")
HARMLESS = ("works", "prints_garbage", "dies_when_done")


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory, lock_key: str, scripted: bytes) -> Run:
    """One job with an arm for each misfortune."""
    site = Site(tmp_path_factory.mktemp("site"), lock_key, scripted).with_backends(*FAILING, *HARMLESS, "segfaults_on_decode")
    assert site.with_backends("uninstalled", package="no_such_library").tune("patience.timing=1s") == 0
    return site.run


@pytest.mark.parametrize(
    ("misfortune", "outcome", "words"),
    [
        ("segfaults", "crashed", "SIGSEGV"),
        ("dies_at_import", "crashed", "exit code 7"),
        ("hangs", "timed out", "no word for 1 s (phase timing, hangs/p1@kernel"),
        ("runs_out_of_memory", "out of memory", "MemoryError: cannot allocate 20 GiB"),
        ("answers_wrongly", "incorrect", "relative error 0.3 is above 0.001"),
        ("misses_a_module", "missing package", "No module named 'no_such_kernel_library'"),
    ],
)
def test_an_arm_that_fails_is_stored_with_its_outcome(probed: Run, misfortune: str, outcome: str, words: str) -> None:
    assert outcomes(probed, misfortune) == {DECODE: outcome, PREFILL: outcome}
    assert words in details(probed, misfortune)


@pytest.mark.parametrize("backend", ["torch_native", *HARMLESS])
def test_the_other_arms_are_measured_all_the_same(probed: Run, backend: str) -> None:
    assert outcomes(probed, backend) == {DECODE: "measured", PREFILL: "measured"}


def test_a_process_that_dies_on_one_cell_leaves_the_other_cells_to_a_fresh_one(probed: Run) -> None:
    assert outcomes(probed, "segfaults_on_decode") == {DECODE: "crashed", PREFILL: "measured"}


def test_arms_race_on_the_phases_they_were_measured_on_and_the_run_ends_well(probed: Run) -> None:
    whole = {(backend, cell) for backend in ("torch_native", *HARMLESS) for cell in (DECODE, PREFILL)}
    assert probed.status == "finished" and len(probed.rounds) == 2
    assert raced(probed, 0) == raced(probed, 1) == whole | {("segfaults_on_decode", PREFILL)}


def test_an_arm_whose_package_is_not_on_the_worker_is_excluded_with_its_reason(probed: Run) -> None:
    [exclusion] = [exclusion for exclusion in probed.exclusions if exclusion.backend == "uninstalled"]
    assert "no_such_library" in exclusion.reasons[0].asked + exclusion.reasons[0].allowed
    assert outcomes(probed, "uninstalled") == {}


def test_cells_are_open_until_an_answer_is_there_that_says_something_of_the_arm() -> None:
    mine, cells = arm("fa3"), (decode("a"), decode("b"), prefill("c"), prefill("d"))
    trials = (
        scripted_trial(mine.name, "fa3", "a"),
        Trial(mine.name, "b", Outcome.CRASHED, "SIGSEGV"),
        Trial(mine.name, "c", Outcome.INTERRUPTED, "broken off"),
        scripted_trial(arm("triton").name, "triton", "d"),
    )
    assert [cell.name for cell in open_cells(mine, cells, trials)] == ["c", "d"]


def test_an_arm_is_not_probed_in_a_phase_its_backend_is_barred_from() -> None:
    barred = Exclusion("fa3", "prefill", (Reason("sm", "90", "100", "use another", "made up"),))
    assert [cell.name for cell in open_cells(arm("fa3"), (decode("a"), prefill("b")), (), (barred,))] == ["a"]
    assert [cell.name for cell in open_cells(arm("triton"), (decode("a"), prefill("b")), (), (barred,))] == ["a", "b"]


def test_what_an_earlier_job_settled_is_not_probed_again(tmp_path_factory: pytest.TempPathFactory, lock_key: str, scripted: bytes) -> None:
    site = Site(tmp_path_factory.mktemp("site"), lock_key, scripted).with_backends("works")
    assert site.tune() == 0
    known = replace(site.run.trials[0], detail="measured yesterday")
    interrupted = Trial(DEFAULT, PREFILL, Outcome.INTERRUPTED, "broken off")
    elsewhere = replace(site, folder=tmp_path_factory.mktemp("elsewhere")).with_backends("works")
    elsewhere.begin(site.run, (known, interrupted))
    assert elsewhere.tune() == 0
    assert elsewhere.run.id == site.run.id
    assert elsewhere.run.trials[:2] == (known, interrupted) and len(elsewhere.run.trials) == 5
    assert outcomes(elsewhere.run, "torch_native") == {DECODE: "measured", PREFILL: "measured"}
