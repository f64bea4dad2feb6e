"""The whole arrays of noise that the error rates rest on are what a simulated GPU makes visit by visit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from backends.simulated.modelled import Modelled
from backends.simulated.world import Noise
from tests.backends.simulated.worlds import CALM, CELLS, FA3, FLASHINFER
from tests.bench.statistics.noise import VISITS, rounds, with_spread
from tests.bench.statistics.recorded import drawn, scatter

PROCESSES = 1500
STANDARD_ERRORS = 4.5
NOISES = {
    "one state": Noise(process_pct=0.6, visit_pct=0.8),
    "two states": Noise(process_pct=0.2, modes_pct=4.0, visit_pct=0.5),
}


def simulated(noise: Noise) -> np.ndarray:
    """Differences of two arms, (processes, cells), from the visits that a worker on a simulated GPU would store."""
    world = replace(CALM, noise=noise)

    def mean(times: Modelled, arm: object, cell: object) -> float:
        visits = [times.visit_us(arm, cell, 1, 0.0)[0] / times.call_us(arm, cell) for _ in range(VISITS)]
        return float(np.mean(np.log(visits)))

    every = (Modelled(world, seed) for seed in range(PROCESSES))
    return np.array([[mean(times, FA3, cell) - mean(times, FLASHINFER, cell) for cell in CELLS] for times in every])


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_the_array_model_and_the_simulated_gpu_have_the_same_moments(noise: Noise) -> None:
    ours, theirs = rounds(np.random.default_rng(1), noise, 1, 20 * PROCESSES, len(CELLS))[0], simulated(noise)
    moments = (lambda d: d, lambda d: d**2, lambda d: d**4, lambda d: d.prod(1, keepdims=True))
    for moment in moments:
        one, other = moment(ours), moment(theirs)
        assert np.all(np.abs(one.mean(0) - other.mean(0)) < STANDARD_ERRORS * one.std(0) / math.sqrt(PROCESSES))


def test_a_difference_of_two_process_means_varies_as_it_is_asked_to() -> None:
    d = rounds(np.random.default_rng(2), with_spread(Noise(visit_pct=0.5), 0.8), 1, 20_000, 1)
    assert d.std() == pytest.approx(0.008, rel=STANDARD_ERRORS / math.sqrt(2 * d.size))


def test_rounds_drawn_from_recorded_ones_scatter_as_those_did_around_no_difference() -> None:
    scattered = scatter()
    assert scattered, "no recorded run has enough processes"
    d = drawn(np.random.default_rng(3), scattered, 2000, 4).reshape(-1, sum(map(len, scattered)))
    recorded = np.array([math.sqrt((cell**2).mean()) for one in scattered for cell in one])
    assert np.allclose((d**2).mean(0) ** 0.5, recorded, rtol=0.05)
    assert np.all(np.abs(d.mean(0)) < STANDARD_ERRORS * recorded / math.sqrt(len(d)))
