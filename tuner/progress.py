"""One display of a long job: phase, what it works on, how much is left, the best so far. On stderr, plain when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PLAIN_INTERVAL_S = 15.0  # between two lines under one headline, where no terminal shows a bar


class Progress:
    """`total` says how many steps there are, `step` counts one. In a terminal a live bar, elsewhere a line a change of phase."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._total = 1
        self._done = 0
        self._done_before = 0
        self._started = self._stepped = time.monotonic()
        self._best = ""
        self._headline = ""
        self._said = 0.0
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if self._stream.isatty():
            self._open_bar()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        self._bar = Progress(TextColumn("{task.description}"), *columns, console=Console(file=self._stream), transient=True)
        self._task = self._bar.add_task("starting", total=self._total)
        self._bar.start()

    def phase(self, headline: str, detail: str = "") -> None:
        """Say what is being done now. Without a terminal a line is printed for a new headline, and then now and then."""
        text = f"{headline}: {detail}" if detail else headline
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=f"{text}  {self._best}".strip())
        elif headline != self._headline or time.monotonic() - self._said > PLAIN_INTERVAL_S:
            self._headline, self._said = headline, time.monotonic()
            print(f"attnpin: {text}{self._eta()}", file=self._stream, flush=True)

    def notes(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.note(text)

    def note(self, text: str) -> None:
        """A line that stays: a failure, a wait, a decision on the way."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(f"attnpin: {text}", file=self._stream, flush=True)

    def best(self, text: str) -> None:
        """What leads at this point; stands beside the bar, or is printed when it changes."""
        if text != self._best and self._bar is None:
            self.note(f"best so far: {text}")
        self._best = text

    def step(self) -> None:
        self._done += 1
        self._stepped = time.monotonic()
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)

    def total(self, total: int, done: int = 0) -> None:
        """The work begins: ``total`` steps, of which an earlier run, or steps of another kind, were ``done``. The time left is judged by
        those from here on."""
        self._total, self._done, self._done_before = total, done, done
        self._started = self._stepped = time.monotonic()
        if self._bar is not None and self._task is not None:
            self._bar.reset(self._task, total=total, completed=done)

    def _eta(self) -> str:
        if self._done == self._done_before:
            return ""
        a_step = (self._stepped - self._started) / (self._done - self._done_before)
        seconds = a_step * (self._total - self._done) - (time.monotonic() - self._stepped)
        return f"  ({self._done}/{self._total}, about {max(0.0, seconds):.0f} s left)"
