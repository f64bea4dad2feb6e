"""Fresh processes out of nothing, many comparisons at once: the noise of `backends.simulated` at the level that decisions see.

    y = mu + G + A + D(t) + e     (ln time of an arm on a cell in a process)

G and, over palindromes, D cancel in a difference; what is left of A and e is drawn here for whole arrays. How a simulated GPU draws
the same is in `backends.simulated.modelled`; tests/bench/statistics/test_noise.py holds the two together.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from backends.simulated.world import Noise

Array = NDArray[np.float64]
VISITS = 8  # of an arm to a cell in a process
PERCENT = 100.0


def process_means(rng: np.random.Generator, noise: Noise, runs: int, processes: int, arms: int, cells: int) -> Array:
    """Deviations of ln process means from their level, shape (runs, processes, arms, cells)."""
    shared, own = rng.standard_normal((runs, processes, arms, 1)), rng.standard_normal((runs, processes, arms, cells))
    modes = rng.choice((-0.5, 0.5), (runs, processes, arms, cells)) if noise.modes_pct else 0.0
    visits = rng.standard_normal((runs, processes, arms, cells)) / math.sqrt(VISITS)
    varied = noise.process_pct * (shared + own) / math.sqrt(2) + noise.modes_pct * modes + noise.visit_pct * visits
    return varied / PERCENT


def rounds(rng: np.random.Generator, noise: Noise, runs: int, count: int, cells: int) -> Array:
    """Differences of two equal versions, shape (runs, count, cells)."""
    means = process_means(rng, noise, runs, count, 2, cells)
    return means[:, :, 0] - means[:, :, 1]


def with_spread(noise: Noise, sd_pct: float) -> Noise:
    """``noise`` with so much of A that a difference of two process means varies by ``sd_pct``, modes apart."""
    visits = noise.visit_pct**2 / VISITS
    return replace(noise, process_pct=math.sqrt(sd_pct**2 / 2 - visits))
