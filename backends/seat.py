"""One arm on one laid-out cell: built, captured, timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timing.timed import Timed, make_timed

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, Driver
    from backends.phases import Phases
    from backends.spec import TimingSpec


class Seat:
    """Construction prepares the call and launches it once, which builds what is built at a first call."""

    def __init__(self, arm: Arm, driver: Driver, data: CellData, slots: int, phases: Phases) -> None:
        self.arm = arm
        self.data = data
        self.slots = slots
        self._phases = phases
        self._timed: Timed | None = None
        with phases.of("build", arm.name, data.cell.name):
            self.call = driver.prepare(data)
            try:
                self.eager_shot()
            except BaseException:
                self.call.close()
                raise

    def eager_shot(self) -> torch.Tensor:
        """Metadata and one launch outside any graph (before `capture`); the output of the last slot rotated over."""
        with self.call.active():
            self.call.plan()
            return self.call.launch(self.slots - 1)

    def capture(self, timing: TimingSpec) -> Timed:
        """Record what the engine would record and settle the pace; from here on `timed` runs the arm."""
        with self._phases.of("capture", self.arm.name, self.data.cell.name):
            self._timed = make_timed(self.call, self.data, self.slots, timing)
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
