"""Timing on a CPU: the wall clock around the calls, which return when they are done."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from backends.timing.pace import Pace, eager_pace

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.memory import GraphMemory
    from backends.spec import TimingSpec

FIRST_LOOKS = 3
FIRST_LOOK_S = 0.3


class WallCall:
    """See `backends.timing.timed.Timed`."""

    mode = "eager"
    memory: GraphMemory | None = None

    def __init__(self, call: PreparedCall, slots: int, timing: TimingSpec) -> None:
        self.slots = slots
        self._call = call
        self._turn = 0
        self._latest: tuple[float, ...] = ()
        self.pace = Pace(1, 1, 0)
        self.pace = eager_pace(self._first_us(), timing)

    @property
    def written(self) -> range:
        return range(self.slots - 1, self.slots)

    def shot(self) -> torch.Tensor:
        with self._call.active():
            self._call.plan()
            return self.run_once()

    def run_once(self) -> torch.Tensor:
        return self._call.launch(self.slots - 1)

    def visit(self) -> tuple[float, ...]:
        with self._call.active():
            for _ in range(self.pace.discards):
                self._sample_us()
            self._latest = tuple(self._sample_us() for _ in range(self.pace.replays))
        return self._latest

    def served_us(self) -> float | None:
        """What the latest visit saw: on a CPU nothing overlaps, a call costs its wall time."""
        return median(self._latest or self.visit())

    def close(self) -> None:
        """Nothing is held beyond the call itself."""

    def _first_us(self) -> float:
        """The fastest of the first calls; fewer of them where one takes long."""
        until = time.monotonic() + FIRST_LOOK_S
        with self._call.active():
            self._call.plan()
            looks = [self._sample_us()]
            while len(looks) < FIRST_LOOKS and time.monotonic() < until:
                looks.append(self._sample_us())
        return min(looks)

    def _sample_us(self) -> float:
        start = time.perf_counter_ns()
        for _ in range(self.pace.launches):
            self._call.launch(self._turn)
            self._turn = (self._turn + 1) % self.slots
        return (time.perf_counter_ns() - start) * 1e-3 / self.pace.launches
