"""CUDA events between pieces of work, with the queue held back so that the host gets ahead of the device."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backends.timing.sm_clock import SmClock

HEAD_START_S = 200e-6
CLOCK_HZ = 2.0e9  # no slower than any board's SM clock, so that a delay is never shorter than asked for


def hold_back(seconds: float) -> None:
    """Keep the device busy with an empty spin while the host queues what follows."""
    cuda = _cuda()
    cuda._sleep(int(seconds * CLOCK_HZ))


def back_to_back_us(
    work: Callable[[], object], discards: int, samples: int, clock: SmClock | None = None, head_start_s: float = HEAD_START_S
) -> list[float]:
    """Device time of each of ``samples`` runs of ``work``, microseconds, one event between neighbours and one wait at the end.
    ``clock`` runs from before the first to after the last. Without ``head_start_s`` the device waits for the host wherever that is
    slower: then it is the time from one run to the next as they are launched."""
    cuda = _cuda()
    events = [cuda.Event(enable_timing=True) for _ in range(samples + 1)]
    if head_start_s:
        hold_back(head_start_s)
    for _ in range(discards):
        work()
    if clock is not None:
        clock.begin()
    events[0].record()
    for event in events[1:]:
        work()
        event.record()
    if clock is not None:
        clock.end()
    cuda.synchronize()
    return [start.elapsed_time(end) * 1e3 for start, end in pairwise(events)]


def held_back_us(work: Callable[[], object], head_start_s: float, samples: int, clock: SmClock | None = None) -> list[float]:
    """The same for work that the host issues slower than the device does it: each run waits until it is all queued."""
    cuda = _cuda()
    pairs = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(samples)]
    if clock is not None:
        clock.begin()
    for start, end in pairs:
        hold_back(head_start_s)
        start.record()
        work()
        end.record()
    if clock is not None:
        clock.end()
    cuda.synchronize()
    return [start.elapsed_time(end) * 1e3 for start, end in pairs]


def _cuda() -> Any:
    """torch.cuda, most of which has no types."""
    import torch

    return torch.cuda
