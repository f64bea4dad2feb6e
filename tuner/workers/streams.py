"""A child process whose three pipes never block the controller: one thread each."""

from __future__ import annotations

import collections
import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO

HEARTBEAT = b'{"event": "heartbeat"}\n'
LONGEST_LINE = 256 << 20
TAIL_LINES = 40
TAIL_LINE_BYTES = 2000
GRACE_S = 1.5  # the worker's guard ends everything within a second of its line closing


class Streams:
    """Starts ``command`` in a session of its own, so that Ctrl-C reaches the controller alone. Raises OSError."""

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True)
        self._outbox: queue.Queue[bytes | None] = queue.Queue()
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._tail: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        self.heard_at = time.monotonic()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._write, self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    def send(self, data: bytes) -> None:
        self._outbox.put(data)

    def line(self, patience_s: float) -> bytes | None:
        """The next line (heartbeats left out), None at the end of output; raises queue.Empty after ``patience_s``."""
        line = self._lines.get(timeout=patience_s)
        if line is None:
            self._lines.put(None)  # an end stays an end
        return line

    def tail(self) -> str:
        """The last lines of stderr; after the end, once they are all here (a grandchild may keep the pipe open)."""
        if self._process.poll() is not None:
            self._threads[2].join(0.5)
        return "\n".join(self._tail)

    def exit_code(self, patience_s: float = 2.0) -> int | None:
        try:
            return self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Close the line, which ends the worker and all it started; kill what has not gone by then."""
        self._outbox.put(None)
        _pipe(self._process.stdin).close()
        if self.exit_code(GRACE_S) is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # gone just now, or run by sudo
                os.killpg(self._process.pid, signal.SIGKILL)
            self.exit_code()

    def _write(self) -> None:
        pipe = _pipe(self._process.stdin)
        try:
            while (data := self._outbox.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[pipe.write(view) :]
        except (OSError, ValueError):  # it has gone, or we closed: the reading side tells
            return

    def _read(self) -> None:
        with os.fdopen(os.dup(_pipe(self._process.stdout).fileno()), "rb") as lines:
            while line := lines.readline(LONGEST_LINE):
                self.heard_at = time.monotonic()
                if line != HEARTBEAT:
                    self._lines.put(line)
        self._lines.put(None)

    def _listen(self) -> None:
        with os.fdopen(os.dup(_pipe(self._process.stderr).fileno()), "rb") as lines:
            while line := lines.readline(TAIL_LINE_BYTES):
                self._tail.append(line.decode(errors="replace").rstrip())


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # Popen was asked for all three
    return pipe
