"""Processes that write to one store at once, and what must stand there afterwards."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.process import BaseProcess

from store.database.connect import Store, open_store
from store.runs.repository import add_round, add_trials, begin_run, load_run
from tests.store.building import a_round, a_run, all_trials

FORK = multiprocessing.get_context("fork")


def write_rounds(url: str, name: str, rounds: int) -> None:
    """A run of its own, round after round."""
    store = open_store(url)
    run = begin_run(store, replace(a_run(name), digest=name), fresh=False)
    add_trials(store, run.id, all_trials(run))
    for index in range(rounds):
        add_round(store, run.id, a_round(run, index))


def check_written(store: Store, name: str, rounds: int) -> None:
    """All of it, and once."""
    run = load_run(store, name)
    assert run.trials == all_trials(run)
    assert run.rounds == tuple(a_round(run, index) for index in range(rounds))


def wait_for(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)
