"""Two jobs at once: on one device they take turns, on two they share a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import pytest

from backends.environment import Environment
from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import load_run
from store.runs.run import Run
from tests.tuner.jobs import Site, assert_stored_as_measured
from tuner.device.keeper import Facts, Keeper

OTHER = "model.name=other"


@pytest.fixture
def site(tmp_path: Path, lock_key: str, scripted: bytes) -> Site:
    return Site(tmp_path, lock_key, scripted).with_backends("works")


def until(job: Popen[str], words: str) -> None:
    """Read what the job says up to the first line with ``words``."""
    said = ""
    for line in job.stderr or ():
        said += line
        if words in line:
            return
    raise AssertionError(f"the job ended without {words!r}: {said}")


def ended(*jobs: Popen[str]) -> tuple[str, ...]:
    """What the jobs still had to say; all must end well."""
    said = tuple(job.communicate(timeout=60)[1] for job in jobs)
    assert [job.returncode for job in jobs] == [0] * len(jobs), said
    return said


def runs(site: Site) -> dict[str, Run]:
    """By model."""
    store = open_store(site.url)
    return {found.model: load_run(store, found.id) for found in list_runs(store)}


def test_a_second_job_on_the_same_device_waits_and_says_for_whom(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_FOLDER", str(site.folder))
    first = site.with_backends("waits_for_a_sign").start()
    until(first, "probing waits_for_a_sign")
    second = site.start(OTHER)
    until(second, f"attnpin: waiting for {site.key}, held by attnpin tune model=tiny")
    assert set(runs(site)) == {"tiny"}
    (site.folder / "sign").touch()
    ended(first, second)
    assert {run.status for run in runs(site).values()} == {"finished"} and set(runs(site)) == {"tiny", "other"}
    for run in runs(site).values():
        assert_stored_as_measured(run)
    assert dict(runs(site)["other"].wall_seconds)["waiting"] > 0.2


def test_jobs_on_two_devices_share_a_store_and_mix_no_rows(site: Site) -> None:
    other = replace(site, key=f"{site.key}-b")
    said = ended(site.start(), other.start(OTHER))
    assert not any("waiting" in words for words in said)
    assert {run.status for run in runs(site).values()} == {"finished"} and set(runs(site)) == {"tiny", "other"}
    for run in runs(site).values():
        assert len(run.rounds) == 2
        assert_stored_as_measured(run)


def test_the_load_of_the_job_that_was_waited_for_is_not_taken_for_somebody_elses(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: busy until the lock is ours, then idle."""
    facts, lock, locked = Keeper.facts, Keeper.lock, []

    def busy_until_locked(keeper: Keeper, imports: Iterable[str]) -> Facts:
        environment: Environment = facts(keeper, imports).environment
        return Facts(environment, None if locked else {"memory_bytes": 40 << 30, "utilization_percent": 97})

    def remember(keeper: Keeper, key: str, owner: str, go_on: Callable[[str], str]) -> None:
        lock(keeper, key, owner, go_on)
        locked.append(key)

    monkeypatch.setattr(Keeper, "facts", busy_until_locked)
    monkeypatch.setattr(Keeper, "lock", remember)
    assert site.tune() == 0
    assert site.run.rounds[0].labels == ()  # the board could be looked at
