"""A command as a process of its own whose talk is heard line by line."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any, Protocol

from tuner.executors.executor import Done, Say

PREFIX = "attnpin: "
LIBRARY = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Running(Protocol):
    """As much of `subprocess.Popen` as is needed here."""

    @property
    def stdout(self) -> IO[str] | None: ...
    @property
    def stderr(self) -> IO[str] | None: ...
    def send_signal(self, number: int, /) -> None: ...
    def wait(self) -> int: ...


class Children:
    """Those that run at present; Ctrl-C reaches them through us alone."""

    def __init__(self) -> None:
        self._running: set[Running] = set()
        self._lock = threading.Lock()
        self._interrupted = False

    def run(self, command: Sequence[str], say: Say) -> Done:
        """Blocks until ``command`` ends. Raises OSError where it does not start."""
        silent: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        silent |= {"text": True, "errors": "replace", "start_new_session": True, "preexec_fn": end_with_us}
        return self.hear(lambda: subprocess.Popen(command, **silent), say)

    def hear(self, begin: Callable[[], Running], say: Say) -> Done:
        """What ``begin`` begins, to its end."""
        process = begin()
        with self._lock:
            self._running.add(process)
            if self._interrupted:
                process.send_signal(signal.SIGINT)
        try:
            return _heard(process, say)
        finally:
            with self._lock:
                self._running.discard(process)

    def interrupt(self) -> None:
        with self._lock:
            self._interrupted = True
            for process in self._running:
                process.send_signal(signal.SIGINT)


def end_with_us() -> None:
    """However we end: a job left behind would go on measuring beside the one that is begun in its place."""
    if hasattr(LIBRARY, "prctl"):
        LIBRARY.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _heard(process: Running, say: Say) -> Done:
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()), daemon=True)
    reader.start()
    last = ""
    for line in process.stderr or ():
        last = line.strip().removeprefix(PREFIX) or last
        say(line.strip().removeprefix(PREFIX))
    code = process.wait()
    reader.join()
    result = next((each for each in reversed(lines) if each.startswith("{")), None)
    return Done(128 - code if code < 0 else code, result, last)
