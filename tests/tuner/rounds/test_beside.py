"""How the second half of a calibration ends, without workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from store.database.connect import Store, open_store
from store.past.history import list_runs
from store.runs.repository import add_round, begin_run
from store.runs.run import FINISHED, RUNNING
from tests.store.building import a_round, a_run
from tests.tuner.composed import composed
from tuner.errors import Incomplete, UsageError
from tuner.job import Job
from tuner.rounds import beside
from tuner.rounds.beside import beside_neighbours
from tuner.rounds.busy import NotBusy

ALONE = a_run("alone")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"sqlite:///{tmp_path}/attnpin.db")


def asked(store: Store, monkeypatch: pytest.MonkeyPatch, busy: int = 1, whole: bool = True, idle: bool = False, rounds: int = 1) -> object:
    """Of a race that stores so many ``rounds`` and may be ``whole``, beside neighbours one of which may fall ``idle``."""

    @contextmanager
    def kept_busy(*_: object) -> Iterator[int]:
        yield busy
        if idle:
            raise NotBusy("a neighbour did not stay busy")

    def race(job: Job) -> bool:
        for index in range(rounds):
            add_round(store, job.run_id, a_round(ALONE, index))
        return whole

    made_up = {
        "kept_busy": kept_busy,
        "race": race,
        "others_here": lambda *_: (),
        "ordered": lambda *_: None,
        "next_round": lambda *_, **how: True,
    }
    for name, value in made_up.items():
        monkeypatch.setattr(beside, name, value)
    session = SimpleNamespace(progress=SimpleNamespace(total=lambda *_: None, note=lambda *_: None))
    job: Any = Job(ALONE.scenario, store, "alone", session, *[None] * 3)  # type: ignore[arg-type]
    terms: Any = None
    return beside_neighbours(composed("gpu=h200"), job, terms, begin_run(store, ALONE, fresh=True))


def status(store: Store) -> str:
    (found,) = (run for run in list_runs(store) if run.id != "alone")
    return found.status


@pytest.mark.parametrize(("whole", "rounds"), [(False, 1), (True, 0)])
def test_a_budget_that_ends_too_early_and_arms_that_all_fail_leave_it_open(
    store: Store, monkeypatch: pytest.MonkeyPatch, whole: bool, rounds: int
) -> None:
    with pytest.raises(Incomplete, match=f"{rounds} process"):
        asked(store, monkeypatch, whole=whole, rounds=rounds)
    assert status(store) == RUNNING


def test_nobody_goes_on_with_what_was_measured_beside_an_idle_neighbour(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotBusy):
        asked(store, monkeypatch, idle=True)
    assert status(store) == FINISHED


def test_neighbours_of_which_none_can_be_taken_are_the_users_matter(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="needs another GPU like this one"):
        asked(store, monkeypatch, busy=0)
