"""The process that asks an engine, with an engine that says what a test has it say."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.engine_says import EngineSays
from backends.worker.asking import asked

Asked = Callable[..., tuple[EngineSays, ...]]
HEAD = "import json, os, subprocess, sys, time\nquestions = [json.loads(line) for line in sys.stdin]\n"
ECHO = 'for question in questions: print(json.dumps({"resolved": question}))'


@pytest.fixture
def ask(tmp_path: Path) -> Asked:
    """Put questions to an engine whose ``asked.ask.main`` runs these lines."""
    place, room = tmp_path / "path", tmp_path / "room"
    (place / "backends" / "made_up" / "asked").mkdir(parents=True)
    room.mkdir()
    (place / "backends" / "__init__.py").touch()

    def put(body: str, questions: list[dict[str, str]], limit_s: float = 60.0) -> tuple[EngineSays, ...]:
        lines = (HEAD + body).replace("\n", "\n    ")
        (place / "backends" / "made_up" / "asked" / "ask.py").write_text(f"def main():\n    {lines}\n")
        said = asked("made_up", questions, limit_s, room, [str(place), "", *sys.path])
        assert list(room.iterdir()) == []
        return said

    return put


def failure(said: tuple[EngineSays, ...]) -> str:
    assert all(one.failure and one == said[0] for one in said)
    return str(said[0].failure)


def test_each_question_gets_its_answer_in_order(ask: Asked) -> None:
    questions = [{"arguments": "first"}, {"arguments": "second"}]
    assert ask(ECHO, questions) == tuple(EngineSays(resolved=question) for question in questions)


def test_the_process_runs_in_an_empty_folder_which_is_not_on_its_path(ask: Asked) -> None:
    seen = 'print(json.dumps({"resolved": {"found": os.listdir(), "path": [f for f in sys.path if f in ("", os.getcwd())]}}))'
    assert ask(seen, [{}]) == (EngineSays(resolved={"found": [], "path": []}),)


def test_variables_that_an_engine_sets_stay_in_its_process(ask: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MADE_UP", raising=False)
    ask(f'os.environ["MADE_UP"] = "1"\n{ECHO}', [{}])
    assert "MADE_UP" not in os.environ


def test_a_process_that_dies_is_a_failure_with_its_last_words(ask: Asked) -> None:
    assert "exit code 3, last words: no such kernel" in failure(ask('print("no such kernel", file=sys.stderr); sys.exit(3)', [{}, {}]))


def test_a_process_that_says_too_little_or_nonsense_is_a_failure(ask: Asked) -> None:
    assert "ended with exit code 0" in failure(ask('print(json.dumps({"failure": "once"}))', [{}, {}]))
    assert "ended with exit code 0" in failure(ask('print("hello")', [{}]))


def test_a_process_that_takes_too_long_is_ended_with_all_it_started(ask: Asked, tmp_path: Path) -> None:
    note = tmp_path / "started"
    body = f'started = subprocess.Popen(["sleep", "600"])\nopen({str(note)!r}, "w").write(str(started.pid))\nstarted.wait()'
    assert failure(ask(body, [{}], limit_s=1.0)) == "it gave no answer within 1 s (ask_limit sets how long it is waited for)"
    assert ends(int(note.read_text()), 5.0)


def ends(pid: int, limit_s: float) -> bool:
    try:
        return bool(select.select([os.pidfd_open(pid)], [], [], limit_s)[0])
    except ProcessLookupError:
        return True


def test_an_answer_is_one_of_three_things() -> None:
    with pytest.raises(ValueError, match="resolved its arguments, or refused"):
        EngineSays()
    with pytest.raises(ValueError, match="resolved its arguments, or refused"):
        EngineSays(resolved={}, failure="both")
