from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backends.wire import to_plain
from backends.worker.questions import PAUSE
from tests.tuner.workers.asking import trial
from tuner.workers.bootstrap import command_line

Process = subprocess.Popen[bytes]


@pytest.fixture
def start(misbehaving: bytes, tmp_path: pathlib.Path) -> Iterator[Callable[[str], tuple[Process, int]]]:
    """Starts a worker on a misfortune; returns the process the controller sees and the id of the one that works."""
    started: list[Process] = []

    def begin(misfortune: str, limit_s: float = 60.0) -> tuple[Process, int]:
        question = json.dumps(to_plain(trial(misfortune, limit_s)))
        environ = {**os.environ, "TMPDIR": str(tmp_path)}
        pipe = subprocess.PIPE
        process = subprocess.Popen(command_line([sys.executable]), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environ)
        started.append(process)
        assert process.stdin is not None
        process.stdin.write(json.dumps({"bytes": len(misbehaving), "path": []}).encode() + b"\n" + misbehaving + question.encode() + b"\n")
        process.stdin.flush()
        return process, int(event_of(process, "progress")["detail"])

    yield begin
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def event_of(process: Process, kind: str) -> dict[str, Any]:
    assert process.stdout is not None
    return next(event for line in process.stdout if (event := json.loads(line))["event"] == kind)


def gone(pid: int) -> bool:
    """A zombie that its new parent has not collected yet is gone, too."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def wait_until(true: Callable[[], bool], limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


@pytest.mark.parametrize("misfortune", ["hangs", "hangs_with_the_lock", "spins_with_the_lock", "compiles_for_ever"])
def test_a_worker_ends_within_a_second_when_its_line_closes(start: Any, tmp_path: pathlib.Path, misfortune: str) -> None:
    process, pid = start(misfortune)
    process.stdin.close()
    assert process.wait(1.0) == 0
    assert gone(pid)
    assert not list(tmp_path.glob("attnpin-*"))


def test_a_worker_ends_when_its_guard_is_killed(start: Any) -> None:
    process, pid = start("hangs_with_the_lock")
    process.kill()
    assert wait_until(lambda: gone(pid), 1.0)


def test_a_worker_that_is_told_to_stand_still_is_not_overdue_and_ends_with_its_line(start: Any) -> None:
    process, pid = start("hangs", 1.0)
    process.stdin.write(PAUSE + b"\n")
    process.stdin.flush()
    assert wait_until(lambda: _state(pid) == "T", 1.0)
    assert event_of(process, "heartbeat") == {"event": "heartbeat"}  # 2 s after the limit began to count
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(1.0) == 0
    assert gone(pid)


def _state(pid: int) -> str:
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def test_a_terminated_guard_cleans_up(start: Any, tmp_path: pathlib.Path) -> None:
    process, pid = start("hangs")
    process.send_signal(signal.SIGTERM)
    process.wait(1.0)
    assert gone(pid)
    assert not list(tmp_path.glob("attnpin-*"))


def test_a_worker_ends_when_nobody_reads_its_events(start: Any) -> None:
    process, pid = start("hangs")
    process.stdout.close()
    assert process.wait(1.0) == 0
    assert gone(pid)


def test_an_orphan_that_left_the_session_is_ended_with_its_worker(start: Any) -> None:
    process, _ = start("leaves_an_orphan")
    assert event_of(process, "error")["detail"] == "the process ended by itself with exit code 3"
    process.wait(3.0)
    sleeps = [name for name in pathlib.Path("/proc").glob("[0-9]*/cmdline") if _text(name) == b"sleep\x0061\x00"]
    assert sleeps == []


def _text(file: pathlib.Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def test_the_line_stays_alive_while_the_arm_is_silent(start: Any) -> None:
    process, _ = start("hangs_with_the_lock")
    started = time.monotonic()
    assert event_of(process, "heartbeat") == {"event": "heartbeat"}
    assert time.monotonic() - started < 3.0
