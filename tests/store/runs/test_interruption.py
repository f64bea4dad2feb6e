"""Processes that are killed, and processes that write at once."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from store.database.connect import Store, open_store, reading
from store.errors import AlreadyStored
from store.runs.repository import add_round, add_trials, add_wall_seconds, begin_run, load_run
from store.runs.run import Run
from store.tables.measured import CellRoundRow, VisitRow
from tests.store.building import a_round, a_run, all_trials
from tests.store.writers import FORK, check_written, wait_for, write_rounds

ENOUGH = 10_000


def keep_writing(url: str, run_id: str, acknowledged: Connection) -> None:
    """Continue the open run for ever, saying after each call what is stored."""
    store = open_store(url)
    run = begin_run(store, a_run(run_id, arms=5, cells=5), fresh=False)
    acknowledged.send(("run", run.id))
    for trial in all_trials(run)[len(run.trials) :]:
        add_trials(store, run.id, [trial])
        acknowledged.send(("trial", trial))
    for index in range(len(run.rounds), ENOUGH):
        add_round(store, run.id, a_round(run, index))
        acknowledged.send(("round", index))


def kill_after(seconds: float, url: str, run_id: str) -> list[tuple[str, object]]:
    """What a writer said was stored before it was killed."""
    here, there = FORK.Pipe(duplex=False)
    child = FORK.Process(target=keep_writing, args=(url, run_id, there))
    child.start()
    there.close()
    time.sleep(seconds)
    child.kill()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    return list(received(here))


def received(connection: Connection) -> list[tuple[str, object]]:
    found = []
    while True:
        try:
            found.append(connection.recv())
        except (EOFError, OSError):  # the last message may have been cut by the kill
            return found


def check_whole(store: Store, run: Run) -> None:
    visits_a_round = len(run.cells) * len(run.arms) * 2
    with reading(store) as session:
        assert session.scalar(text("PRAGMA integrity_check")) == "ok"
        assert session.execute(text("PRAGMA foreign_key_check")).all() == []
        assert session.scalar(select(func.count(CellRoundRow.key))) == len(run.rounds) * len(run.cells)
        assert session.scalar(select(func.count(VisitRow.key))) == len(run.rounds) * visits_a_round


@pytest.mark.usefixtures("to_disk")
def test_a_writer_killed_at_ten_instants_loses_and_doubles_nothing_and_goes_on(tmp_path: Path) -> None:
    url, rng = f"sqlite:///{tmp_path}/a.sqlite", random.Random(20)
    stored_trials, stored_rounds = 0, 0
    instants = sorted(rng.uniform(0.02, 0.5) for _ in range(10))  # the first fall on making the schema and on trials
    for attempt, instant in enumerate(instants):
        said = kill_after(instant, url, f"run-{attempt}")
        store = open_store(url)
        run = begin_run(store, a_run("run-after", arms=5, cells=5), fresh=False)  # also where the kill came before the first
        assert {value for kind, value in said if kind == "run"} <= {run.id}
        trials = stored_trials + sum(kind == "trial" for kind, _ in said)
        rounds = stored_rounds + sum(kind == "round" for kind, _ in said)
        assert trials <= len(run.trials) <= trials + 1
        assert rounds <= len(run.rounds) <= rounds + 1
        assert run.trials == all_trials(run)[: len(run.trials)]
        assert run.rounds == tuple(a_round(run, index) for index in range(len(run.rounds)))
        check_whole(store, run)
        stored_trials, stored_rounds = len(run.trials), len(run.rounds)
    add_trials(store, run.id, all_trials(run)[stored_trials:])
    add_round(store, run.id, a_round(run, stored_rounds))
    run = load_run(store, run.id)
    assert run.trials == all_trials(run) and run.rounds[-1] == a_round(run, stored_rounds)
    check_whole(store, run)


def test_eight_writers_at_once_wait_for_one_another_and_do_not_mix_their_rows(url: str) -> None:
    names = [f"writer-{i}" for i in range(8)]
    wait_for([FORK.Process(target=write_rounds, args=(url, name, 4)) for name in names])
    for name in names:
        check_written(open_store(url), name, 4)


def claim(url: str, index: int, won: Connection) -> None:
    store = open_store(url)
    mine = replace(a_round(load_run(store, "r1"), os.getpid()), index=index)
    try:
        add_round(store, "r1", mine)
        won.send(mine)
    except AlreadyStored:
        won.send(None)


def test_of_several_that_store_the_same_round_one_wins_and_the_rest_are_told(url: str) -> None:
    begin_run(open_store(url), a_run("r1"), fresh=False)
    ends = [FORK.Pipe(duplex=False) for _ in range(4)]
    wait_for([FORK.Process(target=claim, args=(url, 0, there)) for _, there in ends])
    winners = [measured for measured in (here.recv() for here, _ in ends) if measured is not None]
    assert load_run(open_store(url), "r1").rounds == tuple(winners) and len(winners) == 1


def begin(url: str, run_id: str) -> None:
    begin_run(open_store(url), a_run(run_id), fresh=False)


def test_several_that_begin_the_same_run_at_once_share_one(url: str) -> None:
    wait_for([FORK.Process(target=begin, args=(url, f"r{i}")) for i in range(4)])
    with reading(open_store(url)) as session:
        assert session.scalar(text("SELECT count(*) FROM attnpin_runs")) == 1


def add_seconds(url: str) -> None:
    add_wall_seconds(open_store(url), "r1", [("timing", 1.0)])


def test_seconds_that_several_add_at_once_are_all_counted(url: str) -> None:
    begin_run(open_store(url), replace(a_run("r1"), wall_seconds=(("timing", 0.5),)), fresh=False)
    wait_for([FORK.Process(target=add_seconds, args=(url,)) for _ in range(4)])
    assert load_run(open_store(url), "r1").wall_seconds == (("timing", 4.5),)
