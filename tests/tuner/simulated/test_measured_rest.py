"""The whole of `attnpin tune measure.rest=true` on a simulated GPU: measured once a board, used by later runs, said in the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.database.connect import open_store
from store.runs.repository import load_run, newest_run
from store.runs.run import Run
from tests.tuner.simulated.telling import Told, tuned, url_in
from tuner.decide import decide

MEASURING = "the rest of a step"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return tuned(tmp_path_factory.mktemp("rest"), "measure.rest=true")


def newest(folder: Path) -> Run:
    store = open_store(url_in(folder))
    run = newest_run(store)
    assert run is not None
    return load_run(store, run.id)


def test_the_rest_of_every_step_that_counts_is_measured_and_the_decision_rests_on_it(finished: Told) -> None:
    run = newest(finished.folder)
    assert finished.code == 0 and run.rests and run.decision is not None
    assert run.decision.steps and all(step.measured for step in run.decision.steps)
    assert "of a rest that was measured by itself on this board" in finished.out
    assert decide(run) == run.decision


def test_a_later_run_on_the_board_uses_it_and_measures_nothing_again(finished: Told, tmp_path: Path) -> None:
    later = tuned(finished.folder, "measure.seed=1")
    run = newest(finished.folder)
    assert MEASURING not in later.err
    assert run.scenario.measure.seed == 1 and not run.scenario.measure.rest
    assert {found.shape for found in run.rests} == {found.shape for found in newest(finished.folder).rests} != set()


def test_without_the_wish_and_without_a_stored_one_it_is_predicted(tmp_path: Path) -> None:
    run_told = tuned(tmp_path)
    run = newest(tmp_path)
    assert MEASURING not in run_told.err and run.rests == ()
    assert run.decision is not None and not any(step.measured for step in run.decision.steps)
    assert "attention's share of a step is predicted, not measured" in run_told.out
