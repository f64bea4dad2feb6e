"""The rest of a step on a simulated GPU, by its figures: weights and products at the rates of a good kernel, small kernels beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.simulated.modelled import BANDWIDTH_SHARE, moved
from backends.step.shape import RestTimes, StepShape

if TYPE_CHECKING:
    from backends.simulated.bench import SimulatedBench

VISITS, PRODUCTS_SHARE = 8, 0.7  # of the peak: an H200's bfloat16 products of 8192 reach 0.8 of the sheet
SMALL_US = 2.0
FUSED, APART = 4, 9  # small kernels of a layer
STEPS = 20  # a visit


def rest_of_step(bench: SimulatedBench, shape: StepShape) -> RestTimes:
    """A recording has none."""
    if bench.world.recorded is not None:
        return RestTimes(shape, "graph", why_none="a recorded run holds attention alone")
    ways = tuple(_step_ms(bench, shape, kernels) for kernels in (FUSED, APART))
    visits = [_visit(bench, ways) for _ in range(VISITS)]
    return RestTimes(shape, "graph", tuple(fused for fused, _ in visits), tuple(apart for _, apart in visits))


def _step_ms(bench: SimulatedBench, shape: StepShape, kernels: int) -> float:
    bandwidth = bench.world.board.bandwidth_bytes_per_s
    assert bandwidth is not None  # a simulated board has its figures
    read_s = shape.weight_bytes() / (BANDWIDTH_SHARE * bandwidth)
    computed_s = shape.flops() / (PRODUCTS_SHARE * bench.world.peak_flops)
    moved_s = 4 * shape.rows * shape.hidden * shape.element / (BANDWIDTH_SHARE * bandwidth)
    layers = sum(kind.layers for kind in shape.layers)
    return max(read_s, computed_s) * 1e3 + layers * kernels * (SMALL_US * 1e-3 + moved_s * 1e3)


def _visit(bench: SimulatedBench, ways: tuple[float, ...]) -> tuple[float, ...]:
    factor = math.exp(moved(bench.world.noise, bench.now()))
    bench.spend(STEPS * sum(ways) * 1e-3)
    return tuple(ms * factor for ms in ways)
