"""Proof of the clock: a kernel that is known to take so long, timed just as an arm is.

It spins until the GPU's own timer says that its time is over, so neither clocks nor memory have a say in it. What every launch takes
beside that, the way from one to the next, is in the time of a launch that spins twice as long too, so the two differ by what is known.

Source: the measuring protocol, section 6.2, H6: within 0.5 %.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from ctypes import c_ulonglong
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from backends.anchored import KNOWN_US, VISITS
from backends.cuda_code import Kernel, load
from backends.timing.capture import ReplayedCall

if TYPE_CHECKING:
    import torch

    from backends.spec import TimingSpec
    from backends.timing.sm_clock import SmClock

CODE = Path(__file__).with_name("spin.ptx")


def spun_us(device: torch.device, timing: TimingSpec, clock: SmClock | None) -> tuple[float, ...]:
    """By how much launches that differ by `KNOWN_US` are timed apart, one value a visit to both. Raises `CudaRefused` where the driver
    takes no code of ours."""
    (kernel,) = load(CODE.read_bytes(), ["attnpin_spin"])
    calls = [_Spinning(kernel, device, us) for us in (KNOWN_US, 2 * KNOWN_US)]
    with ExitStack() as stack:
        once, twice = (stack.enter_context(closing(ReplayedCall(call, 1, timing, clock=clock))) for call in calls)
        return tuple(median(twice.visit().us) - median(once.visit().us) for _ in range(VISITS))


class _Spinning:
    """See `backends.driver.PreparedCall`: an arm without keys, whose output is never written."""

    graph = True
    resolved = "spin"

    def __init__(self, kernel: Kernel, device: torch.device, us: float) -> None:
        import torch

        self._kernel = kernel
        self._nanoseconds = c_ulonglong(round(us * 1e3))
        self._output = torch.zeros(1, device=device)

    def plan(self) -> None:
        """Nothing changes from step to step."""

    def capturing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def launch(self, slot: int) -> torch.Tensor:
        import torch

        cuda: Any = torch.cuda
        self._kernel.launch(1, 1, cuda.current_stream().cuda_stream, self._nanoseconds)
        return self._output

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Nothing is held."""
