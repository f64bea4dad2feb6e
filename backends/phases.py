"""Says what the process is doing, and adds up where its time went."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Say(Protocol):
    """Reports progress to the controller; every call restarts the clock of "no progress"."""

    def __call__(self, phase: str, arm: str | None = None, cell: str | None = None, detail: str | None = None) -> None: ...


class Phases:
    """``current`` is the phase entered last, also after it ended in an error. Phases do not nest. ``now`` tells seconds."""

    def __init__(self, say: Say, now: Callable[[], float] = time.perf_counter) -> None:
        self._say = say
        self._now = now
        self._seconds: dict[str, float] = {}
        self.current = "start"

    @contextmanager
    def of(self, phase: str, arm: str | None = None, cell: str | None = None, detail: str | None = None) -> Iterator[None]:
        self.current = phase
        self._say(phase, arm=arm, cell=cell, detail=detail)
        start = self._now()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + self._now() - start

    def seconds(self) -> tuple[tuple[str, float], ...]:
        """(phase, seconds), in the order in which the phases first came."""
        return tuple(self._seconds.items())

    def spent(self, *phases: str) -> float:
        return sum(self._seconds.get(phase, 0.0) for phase in phases)
