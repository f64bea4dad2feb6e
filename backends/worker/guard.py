"""The process between the controller and the worker: relays questions and events, keeps the time limits, leaves nothing behind.

A call that hangs may hold the interpreter's lock, so no thread of the worker can be relied on to end it. The process
that the controller started therefore forks, before anything heavy is imported: the child works, the parent guards. It is
the parent that guards since in a container it may be process 1, which its own children cannot kill.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable
from typing import Any, BinaryIO, NoReturn

from backends.outcome import Outcome
from backends.worker import processes
from backends.worker.line import write_whole
from backends.worker.questions import PAUSE, Questions
from backends.worker.watchdog import Watchdog

TICK_MS = 200
HEARTBEAT = b'{"event": "heartbeat"}\n'
HEARTBEAT_S = 2.0
COMPILER_LOOK_S = 5.0  # reading /proc costs milliseconds: only when nothing was heard for this long, and this seldom
SHORT_LINE = 4096  # longer lines are results, never progress


def run(incoming: BinaryIO, folder: str) -> NoReturn:
    """Entry from the bootstrap: ``incoming`` is the controller's line, ``folder`` holds the unpacked code and goes at the end."""
    outgoing = _take_standard_streams()
    events, worker_end = os.pipe()
    questions, hand_on = os.pipe()
    guard = os.getpid()
    worker = os.fork()
    if worker == 0:
        incoming.close()
        for end in (events, outgoing, hand_on):
            os.close(end)
        _become_worker(os.fdopen(questions, "rb"), worker_end, guard)
    os.close(worker_end)
    os.close(questions)
    processes.adopt_orphans()
    code = 1
    try:
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, lambda number, frame: sys.exit(128 + number))
        code = Guard(worker, Questions(incoming, hand_on), events, outgoing).watch()
    except Exception:
        traceback.print_exc()
    finally:
        processes.kill_descendants()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(code)


def _take_standard_streams() -> int:
    """Keep the line's output for ourselves: whatever libraries print goes to stderr, and children read an empty stdin."""
    outgoing = os.dup(1)
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return outgoing


def _become_worker(incoming: BinaryIO, descriptor: int, guard: int) -> NoReturn:
    processes.die_with_parent(guard)
    os.setsid()  # signals of a terminal or a scheduler reach the guard alone
    code = 1
    try:
        from backends.worker.loop import serve

        serve(incoming, descriptor)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)  # without the interpreter's clean-up, which may hang in a library


class Guard:
    """Watches one worker until it ends, its line closes or it is overdue."""

    def __init__(self, worker: int, questions: Questions, events: int, outgoing: int) -> None:
        self._worker = worker
        self._questions = questions
        self._paused = False
        self._events = events
        self._outgoing = outgoing
        self._partial = b""
        self._watchdog = Watchdog()
        self._sent_at = self._looked_at = time.monotonic()

    def watch(self) -> int:
        """Exit code for this process: 0 when the controller closed the line or the worker ended by itself."""
        poll = select.poll()
        poll.register(self._questions.descriptor, select.POLLIN | select.POLLRDHUP)  # POLLHUP comes unasked
        poll.register(self._outgoing, 0)  # POLLERR, unasked too: nobody listens any more
        poll.register(self._events, select.POLLIN)
        self._obey(self._questions.relay(read=False))
        try:
            while True:
                ready = dict(poll.poll(TICK_MS))
                if ready.get(self._questions.descriptor, 0) & ~select.POLLIN or self._outgoing in ready:
                    return 0
                if self._questions.descriptor in ready:
                    self._obey(self._questions.relay(read=True))
                if self._events in ready and not self._relay():
                    poll.unregister(self._events)
                ended, status = os.waitpid(self._worker, os.WNOHANG)
                if ended:
                    return self._report_end(os.waitstatus_to_exitcode(status))
                if (overdue := self._overdue()) is not None:
                    return self._report_overdue(overdue)
                self._beat()
        except BrokenPipeError:
            return 0

    def _obey(self, orders: Iterable[bytes]) -> None:
        for order in orders:
            self._paused = order == PAUSE
            processes.signal_group(self._worker, signal.SIGSTOP if self._paused else signal.SIGCONT)
            self._watchdog.saw({}, time.monotonic())

    def _relay(self) -> bool:
        """Pass on the whole lines that came; False at the end of the worker's pipe."""
        data = os.read(self._events, 1 << 20)
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._pass_on(line)
        return bool(data)

    def _pass_on(self, line: bytes) -> None:
        event = json.loads(line) if len(line) < SHORT_LINE else {}
        self._watchdog.saw(event, time.monotonic())
        if event.get("event") != "limits":
            self._write(line + b"\n")

    def _overdue(self) -> str | None:
        """None for a worker that stands still because it was told to."""
        now = time.monotonic()
        if self._paused:
            return None
        if self._watchdog.overdue(now) is not None or self._time_to_look(now):
            self._look_for_compiler(now)
        return self._watchdog.overdue(now)

    def _time_to_look(self, now: float) -> bool:
        return min(self._watchdog.quiet_s(now), now - self._looked_at) > COMPILER_LOOK_S

    def _look_for_compiler(self, now: float) -> None:
        self._looked_at = now
        compiler = processes.compiler_below(self._worker)
        if compiler is not None:
            self._watchdog.compiling(compiler, now)

    def _report_overdue(self, detail: str) -> int:
        os.kill(self._worker, signal.SIGUSR1)  # the worker's faulthandler writes its stack to stderr, lock or no lock
        time.sleep(0.1)
        self._error(Outcome.TIMED_OUT, detail)
        return 1

    def _report_end(self, code: int) -> int:
        while select.select([self._events], [], [], 0)[0] and self._relay():
            pass
        if code < 0:
            self._error(Outcome.CRASHED, f"the process was ended by {_signal_name(-code)}")
        elif code > 0 or self._watchdog.answering:
            self._error(Outcome.CRASHED, f"the process ended by itself with exit code {code}")
        return 0 if code == 0 else 1

    def _error(self, outcome: Outcome, detail: str) -> None:
        event: dict[str, Any] = {"event": "error", "outcome": outcome.value, "detail": detail, "phase": self._watchdog.phase}
        self._write(json.dumps(event).encode() + b"\n")

    def _beat(self) -> None:
        if time.monotonic() - self._sent_at >= HEARTBEAT_S:
            self._write(HEARTBEAT)

    def _write(self, line: bytes) -> None:
        write_whole(self._outgoing, line)
        self._sent_at = time.monotonic()


def _signal_name(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name}, as the kernel does when memory runs out" if number == signal.SIGKILL else name
