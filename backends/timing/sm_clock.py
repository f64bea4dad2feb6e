"""How fast the SMs ran during a visit, read in its own stream: nothing of the driver's averages, nothing from the host.

Before and after the visit a small kernel writes, for every SM, the nanoseconds of the GPU's timer and the SM's cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_ulonglong
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from backends.cuda_calls import CudaRefused
from backends.cuda_code import Kernel, load

if TYPE_CHECKING:
    import torch

CODE = Path(__file__).with_name("clock.ptx")
PLACES = 512  # SM numbers may have gaps
BLOCKS_A_SM = 2  # so that hardly an SM is left out
Marks = Sequence[Sequence[int]]  # (nanoseconds, cycles) by SM; zeros where no block ran


class SmClock:
    """Of one device, on torch's current stream. Raises `CudaRefused` where the driver loads no code of ours."""

    def __init__(self, device: torch.device) -> None:
        import torch

        (self._kernel,) = load(CODE.read_bytes(), ["attnpin_clock"])
        self._blocks = BLOCKS_A_SM * int(torch.cuda.get_device_properties(device).multi_processor_count)
        self._marks = torch.zeros((2, PLACES, 2), dtype=torch.int64, device=device)

    def begin(self) -> None:
        self._marks.zero_()
        self._mark(self._kernel, 0)

    def end(self) -> None:
        self._mark(self._kernel, 1)

    def mhz(self) -> float | None:
        """Between the last `begin` and `end`; waits for them."""
        first, last = self._marks.tolist()
        return mean_mhz(first, last)

    def _mark(self, kernel: Kernel, place: int) -> None:
        import torch

        cuda: Any = torch.cuda
        kernel.launch(self._blocks, 1, cuda.current_stream().cuda_stream, c_ulonglong(self._marks[place].data_ptr()))


def sm_clock(device: torch.device) -> SmClock | None:
    """None on a CPU, and where the driver refuses."""
    try:
        return SmClock(device) if device.type == "cuda" else None
    except (CudaRefused, OSError):
        return None


def mean_mhz(first: Marks, last: Marks) -> float | None:
    """Cycles over time, the median of the SMs that both marks have; None where there is none."""
    spans = [(end[0] - start[0], end[1] - start[1]) for start, end in zip(first, last) if start[0] and end[0] > start[0]]
    return median(cycles / ns * 1e3 for ns, cycles in spans) if spans else None
