"""The anchors of a simulated GPU: its figures, moved by the drift of its times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.anchored import KNOWN_US, VISITS, Anchors
from backends.simulated.modelled import BANDWIDTH_SHARE, moved
from backends.simulated.world import Misfortune

if TYPE_CHECKING:
    from backends.simulated.bench import SimulatedBench

READ_BYTES = 1 << 30
MULTIPLY_US, NOTHING_US = 4000.0, 64.0
SLOW_CLOCK = 0.98  # of what passes is seen by the events of a clock that is slow
CODE = b"simulated machine code"


def anchors_of(bench: SimulatedBench) -> Anchors:
    bandwidth = bench.world.board.bandwidth_bytes_per_s or 1.0
    times = (READ_BYTES / (BANDWIDTH_SHARE * bandwidth) * 1e6, MULTIPLY_US, NOTHING_US)
    read, multiply, nothing = zip(*(_visit(bench, times) for _ in range(VISITS)))
    return Anchors(bandwidth, bench.world.peak_flops, READ_BYTES, read, multiply, nothing, spin_us=_spun_us(bench))


def _spun_us(bench: SimulatedBench) -> tuple[float, ...]:
    """The timer that a spinning kernel looks at neither drifts nor clocks down."""
    bench.spend(3 * VISITS * KNOWN_US * 1e-6)
    slow = bench.misfortunes.here(Misfortune.SLOW_CLOCK)
    return (KNOWN_US * (SLOW_CLOCK if slow else 1.0),) * VISITS


def _visit(bench: SimulatedBench, times: tuple[float, float, float]) -> tuple[float, float, float]:
    factor = math.exp(moved(bench.world.noise, bench.now()))
    bench.spend(sum(times) * factor * 1e-6)
    read, multiply, nothing = times
    return read * factor, multiply * factor, nothing * factor
