"""Timing of eager CUDA calls: device time with the queue held back, and the time from call to call as a server launches them."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from backends.timing.cuda_events import HEAD_START_S, back_to_back_us, held_back_us, hold_back
from backends.timing.garbage import left_lying
from backends.timing.pace import AHEAD, Pace, eager_pace, row_pace
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
SERVED_LOOKS = 2  # times the rows of a visit


class QueuedCall:
    """See `backends.timing.timed.Timed`. A call that waits for the device itself cannot be queued ahead: its device time then
    holds the host's as well, as it does when served."""

    mode = "eager"
    memory: GraphMemory | None = None
    nodes: tuple[KernelNode, ...] = ()
    only_kernels = False
    spacer_us: float | None = None

    def __init__(self, call: PreparedCall, slots: int, timing: TimingSpec, manner: Manner = PLAIN, clock: SmClock | None = None) -> None:
        self.slots = slots
        self._call = call
        self._manner = manner
        self._clock = clock
        self._turn = 0
        self.pace, self._row_pace = Pace(1, 2, 1), Pace(1, 1, 0)
        self._issue_s = self._time_to_issue()
        call_us, issue_us = min(self.visit().us), self._issue_s * 1e6
        self.pace = manner.whole(eager_pace(call_us, timing, manner.least, issue_us))
        self._row_pace = manner.whole(row_pace(max(call_us, issue_us), manner.least))

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
        with self._call.active(), left_lying():
            self._call.plan()
            us, rows_us = self._held_back_us(), self._rows_us()
        return Sampled(us, median(rows_us), self._clock.mhz() if self._clock else None, rows_us)

    def served_us(self) -> float | None:
        with self._call.active(), left_lying():
            self._call.plan()
            return median(us for _ in range(SERVED_LOOKS) for us in self._rows_us())

    def close(self) -> None:
        """Nothing is held beyond the call itself."""

    def _launch(self, launches: int) -> None:
        for _ in range(launches + self._manner.extra(launches)):
            self._call.launch(self._turn)
            self._turn = (self._turn + 1) % self.slots

    def _held_back_us(self) -> tuple[float, ...]:
        """Device time of a call."""
        launches, discards = self.pace.launches, self.pace.discards
        head_start_s = min(MAX_HEAD_START_S, HEAD_START_S + AHEAD * self._issue_s * launches)
        times = held_back_us(lambda: self._launch(launches), head_start_s, discards + self.pace.replays, self._clock)
        return tuple(us / launches for us in times[discards:])

    def _rows_us(self) -> tuple[float, ...]:
        """Time from one call to the next in each of several rows, one layer after another without a wait: of host and device the
        slower one sets the pace. What it takes to begin on an idle device, and to see that it is idle again, is a step's, not a
        layer's, and scatters by 250 us on an H200; so the rows follow one another and are told apart by events."""
        pace = self._row_pace
        times = back_to_back_us(lambda: self._launch(pace.launches), pace.discards, pace.replays, head_start_s=0.0)
        return tuple(us / pace.launches for us in times)

    def _time_to_issue(self) -> float:
        """Seconds the host takes to queue one call; 0 for a call that does not return before the device is free."""
        import torch

        with self._call.active():
            self._call.plan()
            self._call.launch(self.slots - 1)
            torch.cuda.synchronize()
            hold_back(PROBE_S)
            first_s, again_s = self._issued_s(), self._issued_s()
            torch.cuda.synchronize()
        return min(first_s, again_s) if first_s < 0.75 * PROBE_S else 0.0

    def _issued_s(self) -> float:
        start = time.perf_counter()
        self._call.launch(self.slots - 1)
        return time.perf_counter() - start
