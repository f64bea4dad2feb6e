from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import tuner
from backends.silence import USUAL
from tuner.device import session_of
from tuner.executors.place import DEVICES
from tuner.progress import Progress
from tuner.settings import compose


def test_workers_of_every_job_that_measures_find_the_device_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(session_of, "Session", lambda *given: made.append(given))
    session_of.session_of(compose(["executor.device=GPU-1"]), Progress())
    ((host, *_),) = made
    assert host.variables[DEVICES] == "GPU-1"


def test_the_patience_of_a_process_that_is_told_nothing_is_that_of_the_settings() -> None:
    assert compose([]).patience == USUAL


def test_every_process_of_every_command_has_the_patience_that_was_set() -> None:
    root = Path(tuner.__file__).parent
    calls = [
        (file.relative_to(root), call)
        for file in root.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Host"
    ]
    assert len(calls) > 5
    without = [str(file) for file, call in calls if "patience" not in ast.unparse(call)]
    assert without == []
