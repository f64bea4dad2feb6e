"""What befalls a simulated process, and when: each misfortune as the thing it is on a real GPU."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable, Sequence

from backends.arm import Arm
from backends.cell import Cell
from backends.driver import FellBack, Refused
from backends.simulated.world import Fault, Misfortune


class OutOfMemoryError(RuntimeError):
    """Named as torch's."""


class Misfortunes:
    """``faults`` are those of this process, ``now`` its own seconds."""

    def __init__(self, faults: Sequence[Fault], now: Callable[[], float]) -> None:
        self._faults = faults
        self._now = now

    def here(self, kind: Misfortune, arm: Arm | None = None, cell: Cell | None = None, at_s: float | None = None) -> Fault | None:
        """The first fault of ``kind`` that has come about ``at_s`` into the process (None: by now) and is not over."""
        at_s = self._now() if at_s is None else at_s
        return next((fault for fault in self._faults if fault.kind is kind and _bites(fault, arm, cell, at_s)), None)

    def hang(self, at: str, arm: Arm, cell: Cell | None = None) -> None:
        """Where that befalls what the process is ``at``, it does so for real: what ends it is the worker's guard."""
        while self.hangs(at, arm, cell):
            time.sleep(0.01)

    def hangs(self, at: str, arm: Arm, cell: Cell | None = None) -> bool:
        mine = (fault for fault in self._faults if fault.kind is Misfortune.HANG and fault.at == at)
        return any(_bites(fault, arm, cell, self._now()) for fault in mine)

    def at_opening(self, arm: Arm) -> None:
        """When the arm's library is loaded. Raises what the loader would."""
        self.hang("importing", arm)
        if self.here(Misfortune.WRONG_ABI, arm):
            raise OSError(f"{arm.backend}_ops.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEi")

    def at_call(self, arm: Arm, cell: Cell) -> None:
        """When the arm is prepared on a cell. Raises what its library would."""
        self.hang("building", arm, cell)
        if self.here(Misfortune.OUT_OF_MEMORY, arm, cell):
            raise OutOfMemoryError(f"CUDA out of memory. {arm.backend} tried to allocate 20.00 GiB on the simulated GPU.")
        if self.here(Misfortune.REFUSED, arm, cell):
            raise Refused(f"{arm.backend} does not take this {cell.phase.value} on the simulated GPU")
        if self.here(Misfortune.NO_COMPILER, arm, cell):
            raise RuntimeError("Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist")
        if self.here(Misfortune.BUILD_FAILS, arm, cell):
            raise RuntimeError("Ninja build failed. Ninja output:\nerror: identifier is undefined")
        if self.here(Misfortune.NO_CODE, arm, cell):
            raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
        if self.here(Misfortune.FALLS_BACK, arm, cell):
            raise FellBack(f"{arm.backend} warned that it falls back to another kernel on the simulated GPU")

    def at_visit(self, arm: Arm, cell: Cell) -> None:
        """When the arm is timed. What ends a process ends this one."""
        if self.here(Misfortune.CRASH, arm, cell):
            ctypes.string_at(0)
        self.hang("timing", arm, cell)
        if self.here(Misfortune.KILLED, arm, cell):
            os.kill(os.getppid(), signal.SIGKILL)  # the guard, as if somebody killed what the controller started
            time.sleep(60)


def _bites(fault: Fault, arm: Arm | None, cell: Cell | None, at_s: float) -> bool:
    fits = (
        fault.backend is None or (arm is not None and arm.backend == fault.backend),
        fault.phase is None or (cell is not None and cell.phase is fault.phase),
        fault.cell is None or (cell is not None and cell.name == fault.cell),
    )
    past_s = at_s - fault.after_s
    return all(fits) and past_s >= 0 and (fault.for_s is None or past_s < fault.for_s)
