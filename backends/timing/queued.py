"""Timing of eager CUDA calls: device time with the queue held back, and wall time of a row of them as a server launches them."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from backends.timing.cuda_events import HEAD_START_S, held_back_us, hold_back
from backends.timing.pace import Pace, eager_pace
from backends.timing.sampled import PLAIN, Manner, Sampled

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.measured import KernelNode
    from backends.memory import GraphMemory
    from backends.spec import TimingSpec
    from backends.timing.sm_clock import SmClock

PROBE_S = 0.02  # how long the device is kept busy to see whether a call returns meanwhile
MAX_HEAD_START_S = 0.05  # an idle device cools down and clocks up, so it waits no longer than it must
SERVED_LOOKS, SERVED_S = 10, 0.25
ROW, ROW_US = 4, 50_000.0  # launches in a row, fewer where that takes longer


class QueuedCall:
    """See `backends.timing.timed.Timed`. A call that waits for the device itself cannot be queued ahead: its device time then
    holds the host's as well, as it does when served."""

    mode = "eager"
    memory: GraphMemory | None = None
    nodes: tuple[KernelNode, ...] = ()
    spacer_us: float | None = None

    def __init__(self, call: PreparedCall, slots: int, timing: TimingSpec, manner: Manner = PLAIN, clock: SmClock | None = None) -> None:
        self.slots = slots
        self._call = call
        self._manner = manner
        self._clock = clock
        self._turn = 0
        self._row = 1
        self.pace = Pace(1, 2, 1)
        self._issue_s = self._time_to_issue()
        call_us = min(self.visit().us)
        self.pace = eager_pace(call_us, timing, least=manner.least)
        self._row = max(self.pace.launches, min(ROW, int(ROW_US / call_us)))

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
        """The metadata is made anew first: arms of one process may share the buffers it lies in."""
        pace = self.pace
        head_start_s = min(MAX_HEAD_START_S, HEAD_START_S + 1.5 * self._issue_s * pace.launches)
        with self._call.active():
            self._call.plan()
            times = held_back_us(lambda: self._launch(pace.launches), head_start_s, pace.discards + pace.replays, self._clock)
            served_us = self._row_us()
        mhz = self._clock.mhz() if self._clock else None
        return Sampled(tuple(us / pace.launches for us in times[pace.discards :]), served_us, mhz)

    def served_us(self) -> float | None:
        looks: list[float] = []
        until = time.monotonic() + SERVED_S
        with self._call.active():
            self._call.plan()
            while not looks or (len(looks) < SERVED_LOOKS and time.monotonic() < until):
                looks.append(self._row_us())
        return median(looks)

    def close(self) -> None:
        """Nothing is held beyond the call itself."""

    def _launch(self, launches: int) -> None:
        for _ in range(launches + self._manner.extra(launches)):
            self._call.launch(self._turn)
            self._turn = (self._turn + 1) % self.slots

    def _row_us(self) -> float:
        """Wall time of a call, one layer after another from an idle device until it is idle again: of host and device the
        slower one sets the pace."""
        import torch

        torch.cuda.synchronize()
        start = time.perf_counter()
        self._launch(self._row)
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6 / self._row

    def _time_to_issue(self) -> float:
        """Seconds the host takes to queue one call; 0 for a call that does not return before the device is free."""
        import torch

        with self._call.active():
            self._call.plan()
            self._call.launch(self.slots - 1)
            torch.cuda.synchronize()
            hold_back(PROBE_S)
            start = time.perf_counter()
            self._call.launch(self.slots - 1)
            issued_s = time.perf_counter() - start
            torch.cuda.synchronize()
        return issued_s if issued_s < 0.75 * PROBE_S else 0.0
