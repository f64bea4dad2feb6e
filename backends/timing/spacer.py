"""A small ordinary kernel that may stand between two launches of a graph.

With programmatic dependent launch one attention call may begin inside the one before it. In serving its neighbour is another
kernel, so that this gain is none.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Protocol

from backends.timing.cuda_events import back_to_back_us
from backends.timing.garbage import left_lying

if TYPE_CHECKING:
    import torch

CHAIN = 512  # launches in a graph: above 0.5 ms of them
DISCARDS, SAMPLES = 2, 8


class Filler(Protocol):
    """What may stand between two launches. ``us`` is what it takes among its equals, the way from one launch to the next included."""

    us: float

    def put(self) -> None:
        """One launch on the current stream, which may be recording."""


class Spacer:
    """See `Filler`."""

    def __init__(self, device: torch.device) -> None:
        import torch

        self._value = torch.zeros(1, device=device)
        self.put()  # what is built at a first launch is built now
        torch.cuda.synchronize()
        self.us = self._time_alone()

    def put(self) -> None:
        self._value.add_(1.0)

    def _time_alone(self) -> float:
        import torch

        graph = torch.cuda.CUDAGraph()
        with left_lying(), torch.cuda.graph(graph):
            for _ in range(CHAIN):
                self.put()
        took_us = median(back_to_back_us(graph.replay, DISCARDS, SAMPLES)) / CHAIN
        graph.reset()
        return took_us
