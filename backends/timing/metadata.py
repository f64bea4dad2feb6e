"""What a step's metadata costs: once a step, on the host and until the device has it."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from backends.device import synchronize

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall

LOOKS = 20
LIMIT_S = 0.25  # slow planners are looked at less often
MIN_LOOKS = 3


def metadata_us(call: PreparedCall, device: torch.device) -> tuple[float, float]:
    """Microseconds until ``plan()`` returns, and until the device is idle again; medians, each from an idle device."""
    looks: list[tuple[float, float]] = []
    until = time.monotonic() + LIMIT_S
    with call.active():
        call.plan()
        while len(looks) < MIN_LOOKS or (len(looks) < LOOKS and time.monotonic() < until):
            looks.append(_look_us(call, device))
    host, idle = zip(*looks)
    return median(host), median(idle)


def _look_us(call: PreparedCall, device: torch.device) -> tuple[float, float]:
    synchronize(device)
    start = time.perf_counter_ns()
    call.plan()
    returned = time.perf_counter_ns()
    synchronize(device)
    return (returned - start) * 1e-3, (time.perf_counter_ns() - start) * 1e-3
