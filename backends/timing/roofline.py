"""How fast this device reads memory and multiplies, measured here and now; what is faster than that is wrong, not fast."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.cell import Cell, attention_flops, kv_bytes
from backends.device import dtype_of, free_bytes
from backends.timing.cuda_events import back_to_back_us

if TYPE_CHECKING:
    import torch

# A GPU's two measures repeat within a percent. On a CPU a plain sum or copy reaches about two thirds of what blocked
# attention code can read (two threads of one EPYC: 48 GB/s and 77 GB/s), and neighbours on the host come and go.
MARGIN = {"cuda": 1.05, "cpu": 2.0}
READ_BYTES = {"cuda": 2 << 30, "cpu": 128 << 20}
PRODUCT_SIZE = {"cuda": 8192, "cpu": 512}
RUNS, RUNS_S = 10, 0.2
CPU_LOOKS = 5  # further measurements of a CPU before an arm is condemned
NARROW_PRODUCTS = 2.0  # products of 8-bit operands beside 16-bit ones, which a backend may form of an 8-bit cache (Hopper, Blackwell)


class Implausible(Exception):
    """A sample is faster than memory or arithmetic allow: warm caches, or other work than was asked for."""


@dataclass(frozen=True)
class Limits:
    """What one device did at best in this process."""

    bandwidth_bytes_per_s: float
    flops_per_s: float
    margin: float

    def objection(self, cell: Cell, kv_element_bytes: float, call_us: float) -> str | None:
        """Why a call cannot have taken so little: its unique KV bytes beat the memory, or its live rows the arithmetic."""
        bandwidth, flops = kv_bytes(cell, kv_element_bytes) / call_us * 1e6, attention_flops(cell) / call_us * 1e6
        if bandwidth > self.margin * self.bandwidth_bytes_per_s:
            return f"{bandwidth / 1e9:.0f} GB/s of unique KV, this memory gives {self.bandwidth_bytes_per_s / 1e9:.0f} GB/s"
        reached = self.flops_per_s * (NARROW_PRODUCTS if kv_element_bytes == 1 else 1.0)
        if flops > self.margin * reached:
            return f"{flops / 1e12:.2f} TFLOP/s, this device reaches {reached / 1e12:.2f} TFLOP/s"
        return None


class Roofline:
    """The limits of ``device`` for products in ``dtype`` (a GPU's are taken in bfloat16, which bounds its wider types too)."""

    def __init__(self, device: torch.device, dtype: str) -> None:
        self._device = device
        self._dtypes = {"bfloat16"} if device.type == "cuda" else {dtype, "float32"}
        self.limits = self._measure()

    def require_plausible(self, cell: Cell, kv_element_bytes: float, sample_us: Iterable[float]) -> None:
        """Raise `Implausible` if the fastest sample is faster than this device can be.

        On a CPU the limits may have been measured while others kept it busy; there they are measured some more times first.
        """
        fastest_us = min(sample_us)
        objection = self.limits.objection(cell, kv_element_bytes, fastest_us)
        for _ in range(CPU_LOOKS if self._device.type == "cpu" else 0):
            if objection is None:
                return
            self.limits = _better(self.limits, self._measure())
            objection = self.limits.objection(cell, kv_element_bytes, fastest_us)
        if objection:
            raise Implausible(f"a sample of {fastest_us:.1f} us means {objection}")

    def _measure(self) -> Limits:
        """On random data, in some tenths of a second."""
        peak = max(_peak(self._device, name) for name in self._dtypes)
        return Limits(_bandwidth(self._device), peak, MARGIN[self._device.type])


def _better(a: Limits, b: Limits) -> Limits:
    return Limits(max(a.bandwidth_bytes_per_s, b.bandwidth_bytes_per_s), max(a.flops_per_s, b.flops_per_s), a.margin)


def _bandwidth(device: torch.device) -> float:
    """The better of a summing read and a copy, which reads and writes."""
    import torch

    size = min(READ_BYTES[device.type], free_bytes(device) // 4)
    source = torch.randn(size // 4, device=device)
    target = torch.empty_like(source)
    read = size / _fastest_s(device, lambda: source.sum())
    copied = 2 * size / _fastest_s(device, lambda: target.copy_(source))
    return max(read, copied)


def _peak(device: torch.device, dtype: str) -> float:
    import torch

    size = PRODUCT_SIZE[device.type]
    factor = torch.randn((size, size), device=device).to(dtype_of(dtype))
    product = torch.empty_like(factor)
    return 2.0 * size**3 / _fastest_s(device, lambda: torch.mm(factor, factor, out=product))


def _fastest_s(device: torch.device, work: Callable[[], object]) -> float:
    if device.type == "cuda":
        return min(back_to_back_us(work, 2, RUNS)) * 1e-6
    until = time.monotonic() + RUNS_S
    looks = [_wall_s(work)]
    while len(looks) < RUNS and time.monotonic() < until:
        looks.append(_wall_s(work))
    return min(looks)


def _wall_s(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
