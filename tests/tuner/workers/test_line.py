from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Callable

import pytest

from backends.outcome import Outcome
from tests.tuner.workers.asking import failure_of, take_lock
from tuner.workers.process import Worker

Script = Callable[[str], list[str]]

PRETENDER = 'import json, sys, time\nprint(json.dumps({"event": "hello"}), flush=True)\nsys.stdin.buffer.readline()\n'


@pytest.mark.parametrize(
    ("then", "outcome", "words"),
    [
        ('print("%" * 200, flush=True); time.sleep(60)', Outcome.CRASHED, f"garbled: '{'%' * 80}'"),
        ('print("[1]", flush=True); time.sleep(60)', Outcome.CRASHED, "holds no event: '[1]'"),
        ("time.sleep(60)", Outcome.INTERRUPTED, "no sign of life from the worker for 0.5 s"),
    ],
)
def test_garbage_and_silence_on_the_line_are_typed(
    impatient: None, tmp_path: pathlib.Path, script: Script, then: str, outcome: Outcome, words: str
) -> None:
    file = tmp_path / "pretender.py"
    file.write_text(PRETENDER + then)
    with Worker(script(f"exec {sys.executable} {file}"), silence_limit_s=0.5) as worker:
        failure = failure_of(worker, {"do": "facts", "imports": []})
    assert failure.outcome is outcome
    assert words in failure.detail


def test_a_second_worker_waits_for_the_lock_and_names_the_first(misbehaving: bytes) -> None:
    second = Worker([sys.executable], code=misbehaving)
    with second:
        with Worker([sys.executable], code=misbehaving) as first:
            assert list(take_lock(first, "anna's run")) == [{"event": "locked", "caution": None}]
            events = take_lock(second, "bob's run")
            assert next(events) == {"event": "waiting", "owner": "anna's run"}
        assert list(events) == [{"event": "locked", "caution": None}]
    pathlib.Path(f"/tmp/attnpin-test-{os.getpid()}.lock").unlink()
