"""How long a call takes on a simulated GPU by its figures, and how that varies."""

from __future__ import annotations

import math
import random

from backends.arm import Arm
from backends.cell import Cell, Phase, attention_flops, kv_bytes
from backends.dtypes import element_bytes
from backends.knob import PAGE_SIZE
from backends.simulated.world import Noise, World

# What FlashAttention 3 reached on an H200, bfloat16, 32 query and 8 KV heads of 128: 64 x 4096 decode 248.7 us, 8 x 1024
# 18.5 us, prefill of 4096 tokens 256 us.
BANDWIDTH_SHARE, FLOPS_SHARE = 0.92, 0.56
CALL_US = 10.0
METADATA_US = (60.0, 90.0)  # until the host returns, until the device is idle
LAUNCH_US = 30.0  # of the host, for an eager call


class Modelled:
    """See `backends.simulated.bench.Times`. ``seed`` is the process's."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._seed = f"{world.seed}/{seed}"
        self._means: dict[tuple[str, str], float] = {}
        self._levels: dict[tuple[str, str], tuple[float, random.Random]] = {}

    def call_us(self, arm: Arm, cell: Cell) -> float:
        key = (arm.name, cell.name)
        if key not in self._means:
            self._means[key] = self._mean_us(arm, cell)
        return self._means[key]

    def _mean_us(self, arm: Arm, cell: Cell) -> float:
        board, size = self._world.board, element_bytes(arm.kv_dtype)
        assert board.bandwidth_bytes_per_s is not None  # a simulated board has its figures
        read_s = kv_bytes(cell, size) / (BANDWIDTH_SHARE * board.bandwidth_bytes_per_s)
        computed_s = attention_flops(cell) / (FLOPS_SHARE * self._world.peak_flops)
        return (CALL_US + max(read_s, computed_s) * 1e6) * factor(self._world, arm, cell.phase)

    def served_us(self, arm: Arm, cell: Cell) -> float:
        return self.call_us(arm, cell) + LAUNCH_US

    def visit_served_us(self, arm: Arm, cell: Cell) -> float | None:
        return self.served_us(arm, cell)

    def metadata_us(self, arm: Arm, cell: Cell) -> tuple[float, float]:
        return METADATA_US

    def visit_us(self, arm: Arm, cell: Cell, samples: int, at_s: float) -> tuple[float, ...]:
        noise = self._world.noise
        level, rng = self._in_this_process(arm.name, cell.name)
        level += rng.gauss(0, noise.visit_pct) / 100 + moved(noise, at_s)
        return tuple(self.call_us(arm, cell) * math.exp(level + _of_a_sample(noise, rng)) for _ in range(samples))

    def _in_this_process(self, arm: str, cell: str) -> tuple[float, random.Random]:
        """G + A in ln, and the generator of all that follows."""
        if (arm, cell) not in self._levels:
            rng = random.Random(f"{self._seed}/{arm}/{cell}")
            self._levels[arm, cell] = (_level(self._world.noise, self._seed, arm, rng), rng)
        return self._levels[arm, cell]


def factor(world: World, arm: Arm, phase: Phase) -> float:
    """The product of the paces that hold."""
    versions = {package.module: package.version for package in world.packages}
    knobs = {PAGE_SIZE: str(arm.page_size), **dict(arm.knobs)}
    return math.prod(
        pace.factor
        for pace in world.paces
        if pace.backend == arm.backend
        and pace.phase in (None, phase)
        and (pace.module is None or versions.get(pace.module) == pace.version)
        and (pace.knob is None or knobs.get(pace.knob) == pace.value)
    )


def moved(noise: Noise, at_s: float) -> float:
    """D(t), in ln."""
    return noise.drift_pct_per_minute / 100 * at_s / 60 + noise.transient_pct / 100 * math.exp(-at_s / noise.transient_s)


def _level(noise: Noise, seed: str, arm: str, rng: random.Random) -> float:
    common = random.Random(seed).gauss(0, noise.common_pct)
    shared = random.Random(f"{seed}/{arm}").gauss(0, noise.process_pct)
    process = (shared + rng.gauss(0, noise.process_pct)) / math.sqrt(2)
    return (common + process + noise.modes_pct / 2 * rng.choice((-1, 1))) / 100


def _of_a_sample(noise: Noise, rng: random.Random) -> float:
    spike = rng.expovariate(1 / noise.spike_pct) if noise.spike_share and rng.random() < noise.spike_share else 0.0
    return (rng.gauss(0, noise.sample_pct) + spike) / 100
