"""Jobs that are killed, interrupted, or cannot write, and go on."""

from __future__ import annotations

import multiprocessing
import random
import signal
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import text

from store.database.connect import open_store, reading
from store.errors import DiskFull
from store.runs.repository import newest_run
from tests.tuner.jobs import UNDECIDED, Site, assert_stored_as_measured
from tuner import conclude, tune
from tuner.job import Job

FORK = multiprocessing.get_context("fork")  # what a new process would import first is imported already
ROUNDS = 24  # more than ten kills leave time for
LONG = (f"measure.processes={ROUNDS}", *UNDECIDED)


@pytest.fixture
def site(tmp_path: Path, lock_key: str, scripted: bytes) -> Site:
    return Site(tmp_path, lock_key, scripted).with_backends("works", "dies_when_done")


def killed_after(site: Site, seconds: float, at_work: bool) -> bool:
    """Whether it took a kill to end a job that was given so long, counted from its start, or from the first it stored ``at_work``."""
    begun = FORK.Event()

    def run() -> None:
        keep_trials, keep_round = Job.keep_trials, Job.keep_round
        Job.keep_trials = lambda job, trials: (keep_trials(job, trials), begun.set())
        Job.keep_round = lambda job, measured: (keep_round(job, measured), begun.set())
        site.tune(*LONG)

    job = FORK.Process(target=run)
    job.start()
    if at_work:
        begun.wait(30)
    job.join(seconds)
    job.kill()
    job.join()
    return job.exitcode == -signal.SIGKILL


def rows(site: Site) -> tuple[object, ...]:
    """Everything measured so far, in the order in which it was stored."""
    run = newest_run(open_store(site.url))
    return () if run is None else (*run.trials, *run.rounds)


def test_a_job_killed_at_ten_instants_loses_and_doubles_nothing_and_ends_complete(site: Site) -> None:
    rng, before = random.Random(11), ()
    for kill in range(10):
        assert killed_after(site, rng.uniform(0.05, 0.45), at_work=kill > 2), "the job is too short for ten kills"
        now = rows(site)
        assert set(map(repr, before)) <= set(map(repr, now))
        before = now
    spent = sum(seconds for _, seconds in site.run.wall_seconds)
    assert site.tune(*LONG) == 0
    assert (site.run.status, len(site.run.rounds), site.pin.run) == ("finished", ROUNDS, site.run.id)
    assert_stored_as_measured(site.run)
    assert sum(seconds for _, seconds in site.run.wall_seconds) > spent > 0
    with reading(open_store(site.url)) as session:
        assert session.scalar(text("SELECT count(*) FROM attnpin_runs")) == 1
        assert session.scalar(text("PRAGMA integrity_check")) == "ok"


def test_ctrl_c_says_that_all_is_kept_and_the_same_command_goes_on(site: Site) -> None:
    job = site.start()
    for line in job.stderr or ():
        if "round 1" in line:
            break
    job.send_signal(signal.SIGINT)
    _, said = job.communicate(timeout=30)
    assert job.returncode == 130
    assert said.splitlines()[-1] == "attnpin: Interrupted; what was stored is kept, run the same command again to go on."
    begun = site.run
    assert begun.status == "running" and len(begun.trials) == 6
    assert site.tune() == 0
    assert (site.run.id, site.run.status, site.run.trials) == (begun.id, "finished", begun.trials)


def test_an_unfinished_run_is_continued_by_the_same_request_alone(tmp_path: Path, lock_key: str, scripted: bytes) -> None:
    first, site = (Site(tmp_path / name, lock_key, scripted) for name in ("first", "second"))
    assert first.tune() == 0
    site.begin(first.run, first.run.trials)
    assert site.tune("fresh=true") == 0
    assert site.run.id != first.run.id and site.run.digest == first.run.digest
    assert site.tune() == 0
    assert site.pin.run == first.run.id


def test_a_pin_that_cannot_be_written_leaves_the_run_open_and_is_written_without_measuring(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: object) -> None:
        raise DiskFull("pin.yaml has no room on its disk; free some and run the same command again")

    with monkeypatch.context() as patch:
        patch.setattr(conclude, "write_pin", full)
        assert site.tune() == 4
    assert capsys.readouterr().err.splitlines()[-1] == "attnpin: pin.yaml has no room on its disk; free some and run the same command again"
    measured = site.run
    assert measured.status == "running" and len(measured.rounds) == 2
    monkeypatch.setattr(tune, "probe_arms", lambda job, known, rounds: tuple(known))
    assert site.tune() == 0
    assert site.pin.run == measured.id and (site.run.status, site.run.rounds) == ("finished", measured.rounds)


def test_a_full_disk_ends_the_job_and_with_room_it_goes_on_where_it_was(
    tiny_disk: Path, lock_key: str, scripted: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    site, many = Site(tiny_disk, lock_key, scripted), "measure.timing.replays=6000"
    assert site.tune(many) == 4
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"attnpin: store {site.url} has no room left on its disk; free some and run the same command again")
    subprocess.run(["mount", "-o", "remount,size=40m", str(tiny_disk)], check=True)
    begun = site.run
    assert begun.status == "running" and begun.trials and len(begun.rounds) < 2
    assert site.tune(many) == 0
    assert (site.run.id, len(site.run.rounds)) == (begun.id, 2)
    assert_stored_as_measured(site.run)
