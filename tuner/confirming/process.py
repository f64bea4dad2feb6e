"""A program with its output in a file that never outlives the one who started it, nor does what it starts itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from store.database.interrupts import held_back
from tuner.confirming.living import living, serves_at

PATIENCE_S = 8.0  # to end by itself once it is told to: SGLang looks up every 5 s
GONE_S = 10.0  # to give the GPU back after SIGKILL
LOOK_S = 0.05
MARK = "ATTNPIN_STARTED_"  # begins the name of a variable that all it starts inherit, a session of their own (setsid) or not
# the kernel ends it when we are killed: PR_SET_PDEATHSIG
GUARD = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


class Program:
    """Runs inside its `with`, whose end, however it comes, is its own. A class, since between a generator's yield and the `with` around it
    an interrupt would leave the program behind."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None, listens: bool = False) -> None:
        """``listens``: it waits for a line of its standard input, which `say` gives it."""
        self._command, self._log, self._environment = command, log, environment or {}
        self._mark = f"{MARK}{uuid.uuid4().hex}"
        self._input = subprocess.PIPE if listens else subprocess.DEVNULL
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Program:
        try:
            with held_back(), self._log.open("ab") as file:  # nobody interrupts between its start and our knowing of it
                self._process = _started(self._command, file, {**self._environment, self._mark: ""}, self._input)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    @property
    def code(self) -> int | None:
        """Its exit code; None = it runs."""
        return None if self._process is None else self._process.poll()

    def wait(self, seconds: float) -> int | None:
        """As `code`, after so many seconds or once it has ended."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        return self.code

    def say(self, line: str) -> None:
        """Once. One that has ended already does not hear it."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError), self._process.stdin as speech:
                speech.write(f"{line}\n".encode())

    def end_at_once(self, port: int) -> None:
        """Kills what serves at ``port`` with all that was started around it, but for a first process that does not serve itself, which may
        have something to put in order. Nothing where a stranger serves there, as in a container, which hears of the end from the first."""
        if self._process is None:
            return
        serving = serves_at(port, self._process.pid, self._mark)
        for pid in living(self._process.pid, self._mark) if serving else ():
            if pid != self._process.pid or pid == serving:
                _kill(pid)

    def _stop(self) -> None:
        """First it is asked, alone, since it ends its own children in order; then all that it started is ended, also where it has gone, and
        also when we are interrupted once more."""
        if self._process is None:
            return
        try:
            if self.code is None:
                self._process.send_signal(signal.SIGTERM)
                self.wait(PATIENCE_S)
        finally:
            self._end(self._process.pid)

    def _end(self, group: int) -> None:
        deadline = time.monotonic() + GONE_S
        left: tuple[int, ...] = (group,)
        while left and time.monotonic() < deadline:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
            for pid in living(group, self._mark):
                _kill(pid)
            self.wait(LOOK_S)
            if left := living(group, self._mark):
                time.sleep(LOOK_S)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _started(command: Sequence[str], output: BinaryIO, environment: Mapping[str, str], given: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", GUARD, str(os.getpid()), *command],
        env={**os.environ, **environment},
        stdin=given,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
