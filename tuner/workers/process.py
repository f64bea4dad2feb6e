"""One worker: started from the engine's command, asked, and ended. Whatever goes wrong comes back typed."""

from __future__ import annotations

import json
import os
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from backends.outcome import Outcome
from backends.silence import USUAL, SilenceLimits
from backends.wire import to_plain
from backends.worker.questions import PAUSE, RESUME
from backends.worker.turn_taking import TURN
from tuner.workers.bootstrap import command_line
from tuner.workers.bundle import bundle
from tuner.workers.events import Event, Garbage, parse
from tuner.workers.failure import Place, WorkerFailed
from tuner.workers.greeting import await_hello, last_words, unusable
from tuner.workers.room import unpacked
from tuner.workers.streams import Streams

SILENCE_LIMIT_S = 30.0  # the worker's guard beats every 2 s, whatever its arm does
GO_ON = b'{"do": "go on"}\n'  # to a worker that waits for quiet
QUIET_LIMIT_S = 60.0  # without a word: it may wait for a file lock that is held by one that stands still


class Worker:
    """A process on the serving machine. A context manager; may be killed at any time, from any thread.

    ``command`` ends in a Python, ``path`` are folders put first on its path there, ``code`` is the bundle it runs, ``variables`` are
    set in its environment. ``patience`` with it, unless a question brings its own as ``limits``. ``hush`` is called with True before it
    times and with False when it no longer does; None = nothing runs beside it.
    """

    def __init__(
        self,
        command: Sequence[str],
        path: Sequence[str] = (),
        code: bytes | None = None,
        silence_limit_s: float = SILENCE_LIMIT_S,
        hush: Callable[[bool], None] | None = None,
        variables: Mapping[str, str] | None = None,
        patience: SilenceLimits = USUAL,
    ) -> None:
        self._command = tuple(command)
        self._path = tuple(path)
        self._code = bundle() if code is None else code
        self._patience = patience
        self._silence_limit_s = silence_limit_s
        self._hush = hush
        self._variables = dict(variables or {})
        self._place = Place()
        self._answering = False
        self._quiet = False
        self._greeted = False
        self._streams: Streams | None = None
        self._killed = False

    def __enter__(self) -> Worker:
        """Raises `UsageError` when the command does not lead to a Python that says hello. Entering it again changes nothing."""
        streams = self.launch()
        if not self._greeted:
            try:
                await_hello(streams, self._command, self._patience.starting_s)
            except BaseException:
                self.kill()
                raise
            self._greeted = True
        return self

    def launch(self) -> Streams:
        """Start the command and hand it its code, without waiting for its hello, which entering does."""
        if self._streams is None:
            try:
                self._streams = Streams(command_line(self._command))
            except (OSError, ValueError, IndexError) as error:
                raise unusable(self._command, f"it does not start ({getattr(error, 'strerror', None) or error})") from error
            if self._killed:  # from another thread, while it started
                self._streams.end()
            room = unpacked(self._code) or os.devnull
            header = {"bytes": len(self._code), "room": room, "path": self._path, "variables": self._variables}
            self._streams.send(json.dumps(header).encode() + b"\n" + self._code)
        return self._streams

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    def kill(self) -> None:
        """End the worker and everything it started, within two seconds; one that was not launched ends as soon as it is. Harmless when
        it has gone."""
        self._killed = True
        if self._streams is not None:
            self._streams.end()

    def ask(self, message: Mapping[str, Any]) -> Iterator[Event]:
        """Send a question and return its events as they come; ends when the answer is complete. Records in it may be dataclasses.

        Raises `WorkerFailed`: with an arm's failure as the worker reported it, for garbage, and as interrupted (no arm's
        fault) where the line was lost or fell silent. What the caller left unread of the answer before is skipped.
        """
        if self._streams is None:
            raise RuntimeError("the worker is not started; use it in a with statement")
        for _ in self._answer(self._streams):
            continue
        self._place = Place()
        self._streams.heard_at = time.monotonic()
        question = {"limits": self._patience, **message, **({"quiet": True} if self._hush else {})}
        self._streams.send(json.dumps(to_plain(question), allow_nan=False).encode() + b"\n")
        self._answering = True
        return self._answer(self._streams)

    def go_on(self) -> None:
        """To a worker that waits: the device is its own, and quiet where it was timing."""
        if self._streams is not None:
            if self._hush is not None and self._quiet:
                self._hush(True)
            self._streams.send(GO_ON)

    def tell(self, message: Mapping[str, Any]) -> None:
        """To a worker that waits for more of its question."""
        if self._streams is not None:
            self._streams.send(json.dumps(to_plain(message), allow_nan=False).encode() + b"\n")

    def pause(self) -> None:
        """Have it stand still, whatever it is at, until `resume`; harmless when it has not been launched."""
        self._order(PAUSE)

    def resume(self) -> None:
        self._order(RESUME)

    def _order(self, line: bytes) -> None:
        if self._streams is not None:
            self._streams.send(line + b"\n")

    @property
    def talk(self) -> str:
        """The end of the worker's stderr."""
        return "" if self._streams is None else self._streams.tail()

    def _answer(self, streams: Streams) -> Iterator[Event]:
        while self._answering:
            event = self._next_event(streams)
            self._answering = event["event"] not in ("done", "error")
            if event["event"] == "progress" or "arm" in event:
                self._place = Place(event["phase"], event["arm"], event["cell"])
            if event["event"] == "error":
                raise self._failed(Outcome(event["outcome"]), event["detail"])
            if event["event"] == TURN and self._hush is not None:
                self._hush(False)  # it stands still
            if event["event"] == "quiet":
                self._make_quiet(streams, event["wanted"])
            elif self._answering:
                yield event

    def _make_quiet(self, streams: Streams, wanted: bool) -> None:
        if self._hush is not None:
            self._quiet = wanted
            self._hush(wanted)
        if wanted:
            streams.send(GO_ON)

    def _next_event(self, streams: Streams) -> Event:
        line = self._next_line(streams)
        if line is None:
            raise self._died(streams)
        try:
            return parse(line)
        except Garbage as error:
            self.kill()
            raise self._failed(Outcome.CRASHED, str(error)) from error

    def _next_line(self, streams: Streams) -> bytes | None:
        asked_at = time.monotonic()
        while time.monotonic() - streams.heard_at <= self._silence_limit_s:
            try:
                return streams.line(patience_s=0.5)
            except queue.Empty:
                if self._hush is not None and self._quiet and time.monotonic() - asked_at > QUIET_LIMIT_S:
                    self._quiet = False
                    self._hush(False)
        self.kill()
        raise self._failed(Outcome.INTERRUPTED, f"no sign of life from the worker for {self._silence_limit_s:g} s")

    def _died(self, streams: Streams) -> WorkerFailed:
        """Nobody told why: the guard reports the death of an arm, so it was the guard or the line that was lost."""
        code = streams.exit_code()
        self.kill()
        return self._failed(Outcome.INTERRUPTED, f"the worker ended without a word, exit code {code}{last_words(streams.tail())}")

    def _failed(self, outcome: Outcome, detail: str) -> WorkerFailed:
        return WorkerFailed(outcome, detail, self._place, self.talk)
