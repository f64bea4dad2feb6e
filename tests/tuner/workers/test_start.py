from __future__ import annotations

import os
import pathlib
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable

import pytest

from backends.silence import SilenceLimits
from tests.tuner.workers.asking import answer_of, take_lock, trial
from tuner.errors import UsageError
from tuner.workers.bundle import bundle
from tuner.workers.process import Worker

Script = Callable[[str], list[str]]


def test_folders_of_engine_path_come_first_but_behind_our_own_code(tmp_path: pathlib.Path) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text("__version__ = '9.9'\ncuda = None\n")
    (tmp_path / "backends").mkdir()
    with Worker([sys.executable], path=[str(tmp_path)]) as worker:
        facts = [event for event in worker.ask({"do": "facts", "imports": []}) if event["event"] == "facts"][0]
    assert facts["environment"]["torch"] == "9.9"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo no GPU driver >&2; exit 5", "it ended with exit code 5, last words: no GPU driver"),
        ("yes garbage", "it is no Python, after printing 'garbage'"),
        ("exec sleep 60", "it did not answer within 0.5 s (patience.starting sets how long it is waited for)"),
    ],
)
def test_a_command_that_is_no_python_is_a_usage_error(impatient: None, script: Script, text: str, words: str) -> None:
    with pytest.raises(UsageError, match="engine.command=") as caught, Worker(script(text), patience=SilenceLimits(starting_s=0.5)):
        pass
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", [["/no/such/python"], ["/etc/passwd"], [], ["bad\0name"]])
def test_a_command_that_does_not_exist_is_a_usage_error(command: list[str]) -> None:
    with pytest.raises(UsageError, match="it does not start"), Worker(command):
        pass


def test_a_worker_that_dies_while_its_code_is_imported_is_a_usage_error_with_its_last_words(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    room = tmp_path / "backends"
    (room / "worker").mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "worker" / "__init__.py").write_text("raise ImportError('broken on purpose')")
    with pytest.raises(UsageError, match="last words: ImportError: broken on purpose"), Worker([sys.executable], code=bundle(room=room)):
        pass
    assert not list(tmp_path.glob("attnpin-*"))


def test_a_greeting_before_python_starts_is_skipped(script: Script, misbehaving: bytes) -> None:
    command = script(f'echo "== NVIDIA =="; echo; exec {sys.executable} "$@"')
    with Worker(command, code=misbehaving) as worker:
        assert answer_of(worker, trial("works")) == "fine"


def test_it_works_without_a_home(monkeypatch: pytest.MonkeyPatch, misbehaving: bytes) -> None:
    for name in ("HOME", "USER", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    with Worker([sys.executable], code=misbehaving) as worker:
        assert answer_of(worker, trial("works")) == "fine"


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("setpriv") is None, reason="only root may become somebody else")
def test_it_works_for_an_account_without_an_entry(monkeypatch: pytest.MonkeyPatch, misbehaving: bytes) -> None:
    monkeypatch.setenv("HOME", "/root")
    monkeypatch.delenv("USER", raising=False)
    python = os.path.realpath("/usr/bin/python3")
    command = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", python]
    with Worker(command, code=misbehaving) as worker:
        assert answer_of(worker, trial("names_its_account")) == ["uid54321", "attnpin-home-54321"]
    shutil.rmtree(pathlib.Path(tempfile.gettempdir(), "attnpin-home-54321"))


def test_the_worker_lives_on_the_standard_library(bare: None) -> None:
    with Worker([sys.executable, "-B"]) as worker:
        [_, facts] = worker.ask({"do": "facts", "imports": ["torch", "numpy"]})
        assert facts["environment"]["python"] == platform.python_version()
        assert [name for name, _ in facts["environment"]["imports"] if name == "numpy"] == []  # blocked for real
        [locked] = take_lock(worker, "anna")
        assert locked["event"] == "locked"
    pathlib.Path(f"/tmp/attnpin-test-{os.getpid()}.lock").unlink()
