"""Workers behind the programs that take a command elsewhere, which are imitated by scripts that pass it on as those do."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

from backends.silence import SilenceLimits
from tests.tuner.workers.asking import answer_of, trial
from tuner.errors import UsageError
from tuner.workers.greeting import greeting
from tuner.workers.process import Worker

PYTHON = sys.executable
# ssh joins its words with spaces, and a shell of the other side reads the line.
SSH = """
case $1 in -*) shift ;; esac
shift
exec sh -c "$*"
"""
DOCKER = """
while [ "$1" != IMAGE ]; do shift; done
shift
exec "$@"
"""
KUBECTL = """
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""
BANNER = """
printf '\\033[1mWelcome to gpu07\\033[0m\\nLast login: {yesterday}\\n'
printf '(base) $ '
"""


@pytest.fixture(autouse=True)
def imitations(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {"ssh": SSH, "docker": DOCKER, "kubectl": KUBECTL, "greeting-ssh": BANNER + SSH}
    for name, text in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "greeting").mkdir()
    (tmp_path / "greeting-ssh").rename(tmp_path / "greeting" / "ssh")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", 'exec "$0" "$@"', PYTHON],
        ["sh", "-c", f"exec {PYTHON}"],
        ["bash", "-ec", f"export OMP_NUM_THREADS=1 && {PYTHON} -B"],
        ["docker", "run", "-i", "--rm", "--gpus", "all", "IMAGE", PYTHON],
        ["docker", "run", "-i", "--rm", "IMAGE", "bash", "-c", f"true; exec {PYTHON}"],
        ["kubectl", "exec", "-i", "ssh", "--", PYTHON],
        ["ssh", "gpu07", PYTHON],
        ["ssh", "-T", "gpu07", "env", "OMP_NUM_THREADS=1", PYTHON],
        ["env", "LANG=C", "ssh", "gpu07", PYTHON],
        ["ssh", "gateway", "ssh", "gpu07", PYTHON],
        ["ssh", "gpu07", "docker", "run", "-i", "IMAGE", PYTHON],
    ],
    ids=lambda command: " ".join(command).replace(PYTHON, "python3"),
)
def test_a_worker_is_reached_through(command: list[str], misbehaving: bytes) -> None:
    with Worker(command, code=misbehaving, patience=SilenceLimits(starting_s=20)) as worker:
        assert answer_of(worker, trial("works")) == "fine"


def test_a_banner_that_does_not_end_its_line_is_skipped(tmp_path: pathlib.Path, misbehaving: bytes) -> None:
    with Worker([str(tmp_path / "greeting" / "ssh"), "gpu07", PYTHON], code=misbehaving, patience=SilenceLimits(starting_s=20)) as worker:
        assert answer_of(worker, trial("works")) == "fine"


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (b'{"event": "hello", "python": "3.12.3"}\n', "hello"),
        (b'(base) $ {"event": "hello"}\n', "hello"),
        (b'{"event": "error", "outcome": "crashed"}\n', "error"),
        (b'what is {"event"? nobody knows\n', None),
        (b"Last login: today\n", None),
    ],
)
def test_an_event_is_found_behind_what_somebody_else_left_on_the_line(line: bytes, event: str | None) -> None:
    assert greeting(line) == event


def test_a_host_that_cannot_be_reached_is_told_by_ssh_itself(tmp_path: pathlib.Path) -> None:
    (tmp_path / "ssh").write_text("#!/bin/sh\necho 'ssh: connect to host gpu07 port 22: Connection refused' >&2; exit 255\n")
    with (
        pytest.raises(UsageError, match="exit code 255, last words: ssh: connect to host gpu07 port 22: Connection refused"),
        Worker(["ssh", "gpu07", "python3"]),
    ):
        pass
