"""A device that others use, and how long that is put up with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from store.database.connect import open_store
from store.past.history import list_runs
from tests.tuner.jobs import Site
from tuner.command_line.hydra_app import hydra_arguments
from tuner.device import waiting
from tuner.device.keeper import Facts, Keeper
from tuner.device.waiting import Wait
from tuner.errors import MeasurementInvalid
from tuner.settings import compose

BUSY: dict[str, int | None] = {"memory_bytes": 40 << 30, "utilization_percent": 97}


@pytest.fixture
def site(tmp_path: Path, lock_key: str, scripted: bytes, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(waiting, "LOOK_EVERY_S", 0.0)
    return Site(tmp_path, lock_key, scripted)


def busy_for(looks: Iterator[object], monkeypatch: pytest.MonkeyPatch) -> None:
    """The device is used by others as long as ``looks`` has items; asked for imports, a job has not looked yet."""
    facts = Keeper.facts

    def seen(keeper: Keeper, imports: Iterable[str]) -> Facts:
        environment = facts(keeper, imports).environment
        return Facts(environment, BUSY if not imports and next(looks, None) is not None else None)

    monkeypatch.setattr(Keeper, "facts", seen)


def test_a_busy_gpu_is_waited_for_and_then_measured(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy_for(iter(range(3)), monkeypatch)
    assert site.tune("wait_for_gpu=2h") == 0
    name = site.run.environment.board.name
    said = capsys.readouterr().err
    waited = f"attnpin: waiting until {name} is free: 40.0 GiB are taken, at 97 % load; "
    assert re.search(rf"^{re.escape(waited)}\d+(\.\d+)? s of 2 h have passed$", said, re.MULTILINE)
    assert dict(site.run.wall_seconds)["waiting"] > 0


def test_a_run_that_was_waited_for_is_given_a_moment_to_leave_and_anybody_else_none(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its lock is free when its process has ended; its memory and load are told a little longer."""
    busy_for(iter(range(2)), monkeypatch)
    assert site.tune() == 4
    monkeypatch.setattr(waiting, "LEAVING_LOOK_S", 0.0)
    monkeypatch.setattr(Keeper, "lock", lambda *asked: True)
    busy_for(iter(range(2)), monkeypatch)
    assert site.tune() == 0
    busy_for(iter(int, 1), monkeypatch)
    assert site.tune("fresh=true") == 4
    assert " is used by others: 40.0 GiB are taken, at 97 % load; wait until it is free" in capsys.readouterr().err


def test_when_the_time_is_over_the_job_ends_with_nothing_measured(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy_for(iter(int, 1), monkeypatch)
    assert site.tune("wait_for_gpu=0.1s") == 4
    last = capsys.readouterr().err.splitlines()[-1]
    assert " is used by others: 40.0 GiB are taken, at 97 % load still after 0.1 s; set wait_for_gpu=0.2s to wait longer, or " in last
    assert list_runs(open_store(site.url)) == ()


def test_another_run_of_attnpin_is_waited_for_no_longer_either() -> None:
    clock = iter([0.0, 60.0, 7300.0])
    wait = Wait(7200.0, lambda: next(clock))
    assert wait.go_on("GPU-1 is held by bob") == "60 s of 2 h have passed"
    with pytest.raises(MeasurementInvalid, match="^GPU-1 is held by bob still after 2 h; set wait_for_gpu=4h to wait longer, or choose"):
        wait.go_on("GPU-1 is held by bob")


def test_who_is_not_waited_for_is_told_no_longer_wait() -> None:
    clock = iter([0.0, 0.1])
    with pytest.raises(
        MeasurementInvalid, match="^GPU-1 is held by bob, and it is not waited for; free it and run the same command again$"
    ):
        Wait(0.0, lambda: next(clock)).go_on("GPU-1 is held by bob")


def test_without_a_limit_another_run_of_attnpin_is_waited_for_as_long_as_it_takes() -> None:
    clock = iter([0.0, 1e6])
    assert Wait(None, lambda: next(clock)).go_on("GPU-1 is held by bob") == "277 h 47 min have passed"


def test_the_flag_stands_for_the_override() -> None:
    assert hydra_arguments(["--wait-for-gpu", "2h", "model=tiny"]) == ["model=tiny", "wait_for_gpu=2h"]
    assert compose(["backend=[torch_native]", "wait_for_gpu=15m"]).wait_for_gpu_s == 900
    assert compose(["backend=[torch_native]"]).wait_for_gpu_s is None
