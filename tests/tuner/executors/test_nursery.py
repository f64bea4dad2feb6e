"""A real process that forks, begun twice: some four seconds of one core in all. Its jobs are commands that measure nothing."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuner.errors import INTERRUPTED
from tuner.executors import executor, forking
from tuner.executors.child import Children
from tuner.executors.executor import Done, program
from tuner.executors.nursery import FORKING, Nursery

PLAN = ("plan", "gpu=simulated", "model=qwen3_8b", "traffic.concurrency=${oc.env:AT_ONCE}", "--json")


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    yield (nursery := Nursery())
    assert nursery._line is not None
    nursery._line.close()


def done(nursery: Nursery, *arguments: str) -> Done:
    return Children().hear(lambda: nursery.begin(arguments), lambda _: None)


def test_a_job_runs_where_and_as_it_was_asked_for_and_is_heard(nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for at_once in ("4", "5"):
        monkeypatch.setenv("AT_ONCE", at_once)
        planned = done(nursery, *PLAN)
        assert planned.exit_code == 0 and json.loads(planned.line or "")["scenario"]["traffic"]["concurrency"] == int(at_once)
    (tmp_path / "here.yaml").write_text("[]")
    assert "here.yaml is no pin" in done(nursery, "verify", "--pin", "here.yaml", "--log", "x").last


def test_several_at_once_do_not_hear_each_other(nursery: Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AT_ONCE", "4")
    found: dict[str, Done] = {}
    words = {"4": PLAN, "2": ("plan", "no_such_key=1")}
    threads = [threading.Thread(target=lambda key=key: found.update({key: done(nursery, *words[key])})) for key in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found["4"].exit_code == 0 and found["4"].line and found["2"].exit_code == 2 and not found["2"].line


def test_a_job_that_is_killed_is_told_as_such_and_a_nursery_that_went_away_is_begun_anew(nursery: Nursery) -> None:
    job = nursery.begin(["plan"])
    parent = int(Path(f"/proc/{job.pid}/stat").read_text().rpartition(")")[2].split()[1])
    job.send_signal(signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL
    job.send_signal(signal.SIGINT)  # to nobody
    os.kill(parent, signal.SIGKILL)
    assert done(nursery, "--version").exit_code == 0


def test_out_of_a_single_file_it_is_that_file_which_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEX", "/opt/attnpin.pyz")
    monkeypatch.setattr(executor.sys, "executable", "python3")
    assert program() == ["python3", "/opt/attnpin.pyz"]
    assert program(FORKING) == ["env", f"PEX_MODULE={FORKING}", "python3", "/opt/attnpin.pyz"]


def test_a_job_that_is_interrupted_before_it_listens_ends_as_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    heard, ending = os.pipe()
    monkeypatch.setattr("tuner.__main__.main", lambda: signal.raise_signal(signal.SIGINT))
    forking.run(forking.Asked([], ".", {}, (ending,)))
    os.close(ending)
    with os.fdopen(heard) as said:
        assert said.read() == f"{os.getpid()}\n{INTERRUPTED}"
