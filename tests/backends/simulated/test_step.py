from __future__ import annotations

from dataclasses import replace

from backends.simulated.bench import SimulatedBench
from backends.simulated.world import Noise
from backends.step.shape import LayerShape, RestTimes, StepShape
from tests.backends.simulated.worlds import CALM, TIMING

SHAPE = StepShape("bfloat16", 4096, (LayerShape(36, 4096, 1024, 1024, 4096),), 12288, 1, 1, 151936, 64, 64, 64)


def measured(shape: StepShape, noise: Noise = CALM.noise) -> RestTimes:
    return SimulatedBench(replace(CALM, noise=noise), 3).rest_times(shape, TIMING, lambda: True)


def test_a_simulated_step_reads_its_weights_and_is_the_same_every_time() -> None:
    found = measured(SHAPE)
    assert found == measured(SHAPE)
    assert min(found.fused_ms) > 1e3 * SHAPE.weight_bytes() / 4.8e12
    assert all(fused < apart for fused, apart in zip(found.fused_ms, found.apart_ms))


def test_a_long_prefill_waits_for_arithmetic() -> None:
    chunk = replace(SHAPE, rows=8192, mlp_rows=8192, logit_rows=1)
    assert min(measured(chunk).fused_ms) > 1e3 * chunk.flops() / CALM.peak_flops


def test_the_step_is_measured_while_time_passes() -> None:
    bench = SimulatedBench(CALM, 3)
    before = bench.now()
    found = bench.rest_times(SHAPE, TIMING, lambda: True)
    assert bench.now() - before > sum(found.fused_ms) * 1e-3
