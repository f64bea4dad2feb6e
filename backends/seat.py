"""One arm on one laid-out cell: built, captured, timed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.memory import Growth, total
from backends.timing.sampled import PLAIN, Manner

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.bench import Bench
    from backends.driver import CellData, Driver
    from backends.phases import Phases
    from backends.spec import TimingSpec
    from backends.timing.timed import Timed


class Seat:
    """Construction prepares the call and launches it once, which builds what is built at a first call: ``first_call_s``.

    ``call_bytes`` is the device memory that the prepared call keeps beside the pool, from `capture` on with what recording
    it took; what lies in the graph's own pool is not among it. None on a CPU.
    """

    def __init__(self, arm: Arm, driver: Driver, data: CellData, slots: int, phases: Phases, bench: Bench) -> None:
        self.arm = arm
        self.data = data
        self.slots = slots
        self._phases = phases
        self._bench = bench
        self._timed: Timed | None = None
        grown, spent_s = Growth(bench.held()), phases.spent("build")
        with phases.of("build", arm.name, data.cell.name):
            self.call = driver.prepare(data)
            try:
                self.eager_shot()
            except BaseException:
                self.call.close()
                raise
        self.first_call_s = phases.spent("build") - spent_s
        self.call_bytes = grown.bytes

    def eager_shot(self) -> torch.Tensor:
        """Metadata and one launch outside any graph (before `capture`); the output of the last slot rotated over."""
        with self.call.active():
            self.call.plan()
            return self.call.launch(self.slots - 1)

    def capture(self, timing: TimingSpec, manner: Manner = PLAIN) -> Timed:
        """Record what the engine would record and settle the pace; from here on `timed` runs the arm, in ``manner`` and slowed by the
        arm's own share."""
        manner = replace(manner, slowed=manner.slowed + self.arm.slowed)
        grown = Growth(self._bench.held())
        with self._phases.of("capture", self.arm.name, self.data.cell.name):
            self._timed = self._bench.timed(self.call, self.data, self.slots, timing, manner)
        in_graph = self._timed.memory.live_bytes if self._timed.memory else 0
        self.call_bytes = total(self.call_bytes, grown.bytes, -(in_graph or 0))
        return self._timed

    @property
    def timed(self) -> Timed:
        if self._timed is None:
            raise RuntimeError(f"{self.arm.name} on {self.data.cell.name} is timed before it was captured")
        return self._timed

    def close(self) -> None:
        if self._timed is not None:
            self._timed.close()
        self.call.close()
