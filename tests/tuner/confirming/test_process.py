"""Programs that never outlive the one who started them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tuner.confirming.standing import left_behind
from tests.tuner.jobs import ROOT
from tuner.confirming.process import Program

STUBBORN = "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
STARTER = """
import os, pathlib, sys
from tuner.confirming.process import Program
log = pathlib.Path(sys.argv[1], "log")
with Program([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]], log) as program:
    os.kill(os.getpid(), 9)
"""


def test_one_whose_starter_is_killed_ends_too(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-P", "-c", STARTER, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while left_behind(tmp_path) and time.monotonic() < deadline:
        pass  # the kernel tells it a moment later
    assert not left_behind(tmp_path)


def test_what_it_started_in_a_session_of_its_own_ends_with_it(tmp_path: Path) -> None:
    orphan = ["setsid", sys.executable, "-c", STUBBORN, str(tmp_path)]
    command = [sys.executable, "-c", f"import subprocess; subprocess.Popen({orphan!r})"]
    with Program(command, tmp_path / "log") as program:
        while (tmp_path / "log").read_text() != "up\n":
            program.wait(0.02)
    assert not left_behind(tmp_path) and program.code == 0


SERVES = """
import signal, socket, subprocess, sys
served = socket.create_server(("127.0.0.1", 0))
print(served.getsockname()[1], flush=True)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]])
signal.pause()
"""


def port_in(log: Path, program: Program) -> int:
    while not log.read_text().endswith("\n"):
        program.wait(0.02)
    return int(log.read_text())


def test_a_server_is_ended_at_once_with_all_that_it_started(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Program([sys.executable, "-c", SERVES, str(tmp_path)], log) as program:
        program.end_at_once(port_in(log, program))
        assert program.wait(10) == -signal.SIGKILL
    assert not left_behind(tmp_path)


def test_a_script_around_a_server_may_put_things_in_order(tmp_path: Path) -> None:
    log, script = tmp_path / "log", tmp_path / "start.sh"
    script.write_text(f'trap "touch {tmp_path}/tidy" EXIT\n"$@"\n')
    with Program(["sh", str(script), sys.executable, "-c", SERVES, str(tmp_path)], log) as program:
        program.end_at_once(port_in(log, program))
        assert program.wait(10) is not None
    assert not left_behind(tmp_path) and (tmp_path / "tidy").exists()


def test_what_a_stranger_serves_is_left_alone(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as served, Program(["sleep", "600"], tmp_path / "log") as program:
        program.end_at_once(served.getsockname()[1])
        assert program.wait(0.2) is None


def test_one_that_does_not_listen_is_ended_when_we_are_interrupted_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tuner.confirming.process.PATIENCE_S", 30.0)
    before = signal.signal(signal.SIGALRM, again)
    try:
        with pytest.raises(KeyboardInterrupt), Program([sys.executable, "-c", STUBBORN, str(tmp_path)], tmp_path / "log") as program:
            while (tmp_path / "log").read_text() != "up\n":
                program.wait(0.02)
            signal.setitimer(signal.ITIMER_REAL, 0.1)  # while it is waited for
            raise KeyboardInterrupt
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not left_behind(tmp_path) and program.code == -signal.SIGKILL
