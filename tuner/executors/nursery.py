"""Jobs of a sweep as forks of one process that has imported, read and compiled what each of them would again: of the second and a half of
processor time that a command takes to begin, a tenth is left. What a job does to its modules ends with it.

Forked is a process that has one thread and knows of no device (`tuner.executors.forking`): a sweep has threads, and so has a worker of Ray.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from tuner.executors.executor import program

FORKING = "tuner.executors.forking"
HEADER = struct.Struct("!I")  # how long the words are that follow
STREAMS = 3  # stdout, stderr, and what the job is and how it ended: "PID\n", later its exit code


@dataclass(frozen=True)
class Forked:
    """A job that runs, to be heard as a `subprocess.Popen`."""

    pid: int
    stdout: IO[str]
    stderr: IO[str]
    ending: IO[str]

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self) -> int:
        """Its exit code; one that leaves none was killed."""
        with self.ending:
            said = self.ending.read()
        return int(said) if said else -signal.SIGKILL


@dataclass
class Nursery:
    """Begun with its first job, and anew after it went away; ends with whoever holds it."""

    _line: socket.socket | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, arguments: Sequence[str]) -> Forked:
        """`attnpin` with ``arguments``, here and in this environment. Raises OSError where it cannot be begun."""
        asked = json.dumps({"arguments": list(arguments), "folder": os.getcwd(), "environment": dict(os.environ)}).encode()
        with self._lock:
            with suppress(OSError):
                return self._forked(asked)
            self._line = None
            return self._forked(asked)

    def _forked(self, asked: bytes) -> Forked:
        self._line = self._line or _begun()
        ours, theirs = zip(*(os.pipe() for _ in range(STREAMS)))
        with ExitStack() as heard:
            stdout, stderr, ending = (heard.enter_context(os.fdopen(end, errors="replace")) for end in ours)
            try:
                socket.send_fds(self._line, [HEADER.pack(len(asked))], theirs)
                self._line.sendall(asked)
            finally:
                for end in theirs:
                    os.close(end)
            if not (pid := ending.readline()):
                raise OSError("the process that jobs are forked from went away; run the same command again, what was stored is kept")
            heard.pop_all()
            return Forked(int(pid), stdout, stderr, ending)


def _begun() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        words: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "start_new_session": True}
        subprocess.Popen([*program(FORKING), str(theirs.fileno())], pass_fds=[theirs.fileno()], **words)
    return ours
