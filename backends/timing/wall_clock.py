"""Timing on a CPU: the wall clock around the calls, which return when they are done."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from backends.timing.garbage import left_lying
from backends.timing.pace import Pace, eager_pace
from backends.timing.sampled import PLAIN, Manner, Sampled

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.measured import KernelNode
    from backends.memory import GraphMemory
    from backends.spec import TimingSpec

FIRST_LOOKS = 3
FIRST_LOOK_S = 0.3


class WallCall:
    """See `backends.timing.timed.Timed`."""

    mode = "eager"
    memory: GraphMemory | None = None
    nodes: tuple[KernelNode, ...] = ()
    only_kernels = False
    spacer_us: float | None = None

    def __init__(self, call: PreparedCall, slots: int, timing: TimingSpec, manner: Manner = PLAIN) -> None:
        self.slots = slots
        self._call = call
        self._manner = manner
        self._turn = 0
        self._latest: tuple[float, ...] = ()
        self.pace = Pace(1, 1, 0)
        self.pace = manner.whole(eager_pace(self._first_us(), timing, manner.least))

    @property
    def written(self) -> range:
        return range(self.slots - 1, self.slots)

    def shot(self) -> torch.Tensor:
        with self._call.active():
            self._call.plan()
            return self.run_once()

    def run_once(self) -> torch.Tensor:
        return self._call.launch(self.slots - 1)

    def visit(self) -> Sampled:
        """Samples alone: on a CPU nothing overlaps, a call costs its wall time when it is served too."""
        with self._call.active(), left_lying():
            for _ in range(self.pace.discards):
                self._sample_us()
            self._latest = tuple(self._sample_us() for _ in range(self.pace.replays))
        return Sampled(self._latest)

    def served_us(self) -> float | None:
        """What the latest visit saw."""
        return median(self._latest or self.visit().us)

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
        for _ in range(self.pace.launches + self._manner.extra(self.pace.launches)):
            self._call.launch(self._turn)
            self._turn = (self._turn + 1) % self.slots
        return (time.perf_counter_ns() - start) * 1e-3 / self.pace.launches
