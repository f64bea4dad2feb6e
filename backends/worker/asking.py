"""An engine asked in a fresh process of this interpreter: its resolver changes variables, and is patched for a GPU that is not here."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import backends
from backends.engine_says import EngineSays
from backends.wire import from_plain

ENTRY = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from backends.{engine}.asked import ask; ask.main()"
ROOM = Path(backends.__file__).parents[1]  # of the code that was sent, whose folder goes with the worker or its controller, killed or not

Question = dict[str, Any]


def asked(
    engine: str, questions: Sequence[Question], limit_s: float, room: Path = ROOM, path: Sequence[str] | None = None
) -> tuple[EngineSays, ...]:
    """What the ``engine`` that is first on ``path`` (None: this worker's) says to each of ``questions``, within ``limit_s`` in all.
    Whatever goes wrong is a ``failure`` of all answers."""
    folders = [os.path.abspath(folder) for folder in (sys.path if path is None else path) if folder]
    command = [sys.executable, "-W", "ignore", "-c", ENTRY.format(engine=engine), json.dumps(folders)]
    lines = "".join(f"{json.dumps(question)}\n" for question in questions).encode()
    with tempfile.TemporaryDirectory(prefix="asked-", dir=room, ignore_cleanup_errors=True) as folder:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, start_new_session=True)
        try:
            said, talk = process.communicate(lines, limit_s)
        except subprocess.TimeoutExpired:
            return _failed(questions, f"it gave no answer within {limit_s:g} s (ask_limit sets how long it is waited for)")
        finally:
            _end(process)
    try:
        answers = tuple(from_plain(EngineSays, json.loads(line)) for line in said.splitlines())
    except ValueError:
        answers = ()
    return answers if len(answers) == len(questions) else _failed(questions, _ended(talk, process.returncode))


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _failed(questions: Sequence[Question], failure: str) -> tuple[EngineSays, ...]:
    return (EngineSays(failure=failure),) * len(questions)


def _ended(talk: bytes, code: int) -> str:
    words = [line.strip() for line in talk.decode(errors="replace").splitlines() if line.strip()]
    last = f", last words: {words[-1][:200]}" if words else ""
    return f"the process that asked it ended with exit code {code}{last}"
