"""The anchors of an NVIDIA GPU: read, multiply, do nothing. Compiled once an architecture; the machine code is kept and loaded from
then on, so that neither a library nor a compiler of a later sitting has a hand in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from ctypes import c_uint, c_ulonglong
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from backends.anchored import VISITS, Anchors
from backends.cuda_calls import CudaRefused
from backends.cuda_code import Kernel, compiled, load
from backends.timing.cuda_events import back_to_back_us
from backends.timing.garbage import left_lying
from backends.timing.known_duration import spun_us

if TYPE_CHECKING:
    import torch

    from backends.spec import TimingSpec
    from backends.timing.roofline import Limits
    from backends.timing.sm_clock import SmClock

SOURCE = Path(__file__).with_name("anchors.ptx")
ENTRIES = ("attnpin_read", "attnpin_multiply", "attnpin_nothing")
READ_BYTES, WORD_BYTES, WORDS_A_TURN = 1 << 30, 16, 4
READ_BLOCKS, READ_THREADS = 4, 512  # blocks an SM
PASSES, MULTIPLY_BLOCKS, MULTIPLY_THREADS = 1 << 16, 2, 256  # some 4 ms on an H200
CHAIN = 64
DISCARDS, SAMPLES = 2, 8


def source_digest() -> str:
    """Other sources are other anchors: their times are not to be compared."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


def anchors_of(
    device: torch.device, limits: Limits, timing: TimingSpec, code: bytes | None, clock: SmClock | None = None
) -> tuple[Anchors, bytes | None]:
    """The anchors and their machine code: ``code``, or None = compiled now. Where the driver takes neither, the limits alone.

    ``timing`` and ``clock`` as arms are timed: what is held against a known time is their clock."""
    try:
        code = code or compiled(SOURCE.read_bytes())
        found = _timed(_Works(device, load(code, ENTRIES)), limits)
        return replace(found, spin_us=spun_us(device, timing, clock)), code
    except (CudaRefused, RuntimeError) as error:  # the second where memory is short
        return Anchors(limits.bandwidth_bytes_per_s, limits.flops_per_s, why_none=str(error).partition("\n")[0]), None


def _timed(works: _Works, limits: Limits) -> Anchors:
    """In turn, so that no anchor finds the board another one left."""
    rounds = [[_visit(work) for work in works.all] for _ in range(VISITS)]
    read, multiply, nothing = (tuple(times) for times in zip(*rounds))
    return Anchors(limits.bandwidth_bytes_per_s, limits.flops_per_s, works.read_bytes, read, multiply, nothing)


def _visit(work: Callable[[], object]) -> float:
    return median(back_to_back_us(work, DISCARDS, SAMPLES))


class _Works:
    """One run of each anchor on torch's current stream."""

    def __init__(self, device: torch.device, kernels: tuple[Kernel, ...]) -> None:
        import torch

        self._read, self._multiply, self._nothing = kernels
        self._sms = int(torch.cuda.get_device_properties(device).multi_processor_count)
        self._data = torch.randint(-(2**31), 2**31 - 1, (READ_BYTES // 4,), dtype=torch.int32, device=device)
        self._sink = torch.zeros(4, dtype=torch.int32, device=device)
        turn = WORDS_A_TURN * READ_THREADS * READ_BLOCKS * self._sms
        self._words = READ_BYTES // WORD_BYTES // turn * turn
        self.read_bytes = self._words * WORD_BYTES
        self._graph = torch.cuda.CUDAGraph()
        with left_lying(), torch.cuda.graph(self._graph):
            for _ in range(CHAIN):
                self._nothing.launch(1, 32, _stream())

    @property
    def all(self) -> tuple[Callable[[], object], ...]:
        return self._reads, self._multiplies, self._graph.replay

    def _reads(self) -> None:
        data, sink = c_ulonglong(self._data.data_ptr()), c_ulonglong(self._sink.data_ptr())
        self._read.launch(READ_BLOCKS * self._sms, READ_THREADS, _stream(), data, c_ulonglong(self._words), sink)

    def _multiplies(self) -> None:
        sink = c_ulonglong(self._sink.data_ptr())
        self._multiply.launch(MULTIPLY_BLOCKS * self._sms, MULTIPLY_THREADS, _stream(), c_uint(PASSES), sink)


def _stream() -> int:
    import torch

    cuda: Any = torch.cuda
    return int(cuda.current_stream().cuda_stream)
