"""What a step's metadata costs: once a step, on the host and until the device has it."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from backends.timing.garbage import left_lying

if TYPE_CHECKING:
    from backends.bench import Bench
    from backends.driver import PreparedCall

LOOKS = 20
LIMIT_S = 0.25  # slow planners are looked at less often
MIN_LOOKS = 3


def metadata_us(call: PreparedCall, bench: Bench) -> tuple[float, float]:
    """Microseconds until ``plan()`` returns, and until the device is idle again; medians, each from an idle device."""
    looks: list[tuple[float, float]] = []
    until = bench.now() + LIMIT_S
    with call.active(), left_lying():
        call.plan()
        while len(looks) < MIN_LOOKS or (len(looks) < LOOKS and bench.now() < until):
            looks.append(_look_us(call, bench))
    host, idle = zip(*looks)
    return median(host), median(idle)


def _look_us(call: PreparedCall, bench: Bench) -> tuple[float, float]:
    bench.synchronize()
    start = bench.now()
    call.plan()
    returned = bench.now()
    bench.synchronize()
    return (returned - start) * 1e6, (bench.now() - start) * 1e6
