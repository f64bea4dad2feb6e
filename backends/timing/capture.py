"""Timing of what the engine captures: one CUDA graph of many launches, replayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backends.memory import GraphMemory
from backends.timing.cuda_events import back_to_back_us
from backends.timing.pace import Pace, graph_pace, rotation
from backends.timing.recording import Recording
from backends.timing.sampled import PLAIN, Manner, Sampled

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.measured import KernelNode
    from backends.spec import TimingSpec
    from backends.timing.sm_clock import SmClock
    from backends.timing.spacer import Filler

FIRST_LOOKS = 3


class ReplayedCall:
    """See `backends.timing.timed.Timed`. Recorded twice: one rotation, to learn how long a call takes, then as many as make a
    replay; with a ``pace`` given, that once. ``spacer`` stands between the launches where there is one."""

    mode = "graph"

    def __init__(
        self,
        call: PreparedCall,
        slots: int,
        timing: TimingSpec,
        manner: Manner = PLAIN,
        spacer: Filler | None = None,
        clock: SmClock | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.slots = slots
        self._call = call
        self._manner = manner
        self._spacer = spacer
        self._clock = clock
        self.pace = pace or Pace(slots, FIRST_LOOKS, 1)
        self._recording = self._record()
        if pace is None:
            self._settle(timing)

    @property
    def memory(self) -> GraphMemory:
        return self._recording.memory

    @property
    def nodes(self) -> tuple[KernelNode, ...]:
        return self._recording.nodes

    @property
    def only_kernels(self) -> bool:
        return self._recording.only_kernels

    @property
    def spacer_us(self) -> float | None:
        return self._spacer.us if self._spacer else None

    @property
    def written(self) -> range:
        return range(min(self._order()), self.slots)

    def shot(self) -> torch.Tensor:
        """A replay into an output full of NaN."""
        import torch

        with self._call.active():
            self._recording.output.fill_(torch.nan)
            self._call.plan()
            return self.run_once()

    def run_once(self) -> torch.Tensor:
        self._recording.replay()
        return self._recording.output

    def visit(self) -> Sampled:
        """The metadata is made anew first: arms of one process may share the buffers it lies in."""
        with self._call.active():
            self._call.plan()
            times = back_to_back_us(self._recording.replay, self.pace.discards, self.pace.replays, self._clock)
        between_us = len(self._order()) * (self.spacer_us or 0.0)
        return Sampled(tuple((us - between_us) / self.pace.launches for us in times), None, self._clock.mhz() if self._clock else None)

    def served_us(self) -> float | None:
        return None

    def close(self) -> None:
        self._recording.close()

    def _settle(self, timing: TimingSpec) -> None:
        first = self.pace
        self.pace = self._manner.whole(graph_pace(min(self.visit().us), self.slots, timing, self._manner.least))
        if self.pace.launches != first.launches:
            self.close()
            self._recording = self._record()

    def _record(self) -> Recording:
        return Recording(self._call, self._order(), self._spacer)

    def _order(self) -> Sequence[int]:
        launches = self.pace.launches
        return rotation(launches + self._manner.extra(launches), self.slots)
