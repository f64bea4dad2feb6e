"""A read of so many bytes from memory that may stand between two launches of a graph, as a layer's weights do in serving.

It reads another part of its buffer each time, and so much lies between two reads of one part that all of it is cold.
"""

from __future__ import annotations

from ctypes import c_ulonglong
from statistics import median
from typing import TYPE_CHECKING, Any

from backends.cuda_code import Kernel, load
from backends.device import cache_bytes
from backends.kv.rotation import CACHES_BETWEEN_READS
from backends.timing.anchor_kernels import READ_BLOCKS, READ_THREADS, SOURCE, WORD_BYTES, WORDS_A_TURN
from backends.timing.cuda_events import back_to_back_us
from backends.timing.garbage import left_lying

if TYPE_CHECKING:
    import torch

CHAIN_US, LONGEST_CHAIN = 4000.0, 512
DISCARDS, SAMPLES = 2, 8


class Stream:
    """See `backends.timing.spacer.Filler`. ``size_bytes`` is rounded to what all threads of the device read in turns. Raises `CudaRefused`
    where the driver takes no code of ours."""

    def __init__(self, device: torch.device, size_bytes: int) -> None:
        import torch

        (self._kernel,) = load(SOURCE.read_bytes(), ["attnpin_read"])
        self._blocks = READ_BLOCKS * int(torch.cuda.get_device_properties(device).multi_processor_count)
        turn_bytes = WORD_BYTES * WORDS_A_TURN * READ_THREADS * self._blocks
        self.size_bytes = turn_bytes * max(1, round(size_bytes / turn_bytes))
        self._parts = 1 + -(-CACHES_BETWEEN_READS * cache_bytes(device) // self.size_bytes)
        self._next = 0
        self._data = torch.randint(-(2**31), 2**31 - 1, (self._parts * self.size_bytes // 4,), dtype=torch.int32, device=device)
        self._sink = torch.zeros(4, dtype=torch.int32, device=device)
        self.us = self._time_alone()

    def put(self) -> None:
        _launch(self._kernel, self._blocks, self._data.data_ptr() + self._next * self.size_bytes, self.size_bytes, self._sink.data_ptr())
        self._next = (self._next + 1) % self._parts

    def _time_alone(self) -> float:
        import torch

        about_us = median(back_to_back_us(self.put, DISCARDS, self._parts))
        chain = self._parts * max(1, min(round(CHAIN_US / about_us), LONGEST_CHAIN) // self._parts)
        graph = torch.cuda.CUDAGraph()
        with left_lying(), torch.cuda.graph(graph):
            for _ in range(chain):
                self.put()
        took_us = median(back_to_back_us(graph.replay, DISCARDS, SAMPLES)) / chain
        graph.reset()
        return took_us


def _launch(kernel: Kernel, blocks: int, place: int, size_bytes: int, sink: int) -> None:
    import torch

    cuda: Any = torch.cuda
    words = c_ulonglong(size_bytes // WORD_BYTES)
    kernel.launch(blocks, READ_THREADS, cuda.current_stream().cuda_stream, c_ulonglong(place), words, c_ulonglong(sink))
