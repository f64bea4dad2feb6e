"""Times of a simulated GPU vary as the protocol's model says, by what was chosen, and the same way every time."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean, median, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cell import Phase, kv_bytes
from backends.simulated.modelled import BANDWIDTH_SHARE, CALL_US, Modelled
from backends.simulated.world import Noise, Pace, Package, World
from tests.backends.simulated.worlds import CALM, CELLS, DECODE, FA3, FLASHINFER, PREFILL

PROCESSES = 400


def levels(noise: Noise, cell_index: int = 0, arms: int = 2, visits: int = 4) -> list[list[list[float]]]:
    """ln of the visits' medians over the mean time: [process][arm][visit]."""
    world, cell = replace(CALM, noise=noise), CELLS[cell_index]
    return [
        [
            [math.log(median(times.visit_us(arm, cell, 9, 0.0)) / times.call_us(arm, cell)) for _ in range(visits)]
            for arm in (FA3, FLASHINFER)[:arms]
        ]
        for times in (Modelled(world, seed) for seed in range(PROCESSES))
    ]


def test_without_noise_every_sample_is_the_mean() -> None:
    times = Modelled(CALM, 1)
    for cell in CELLS:
        assert set(times.visit_us(FA3, cell, 8, 3.0)) == {times.call_us(FA3, cell)}


def test_a_decode_reads_at_the_boards_bandwidth_and_every_call_costs_something() -> None:
    read_us = kv_bytes(DECODE, 2) / (BANDWIDTH_SHARE * 4.8e12) * 1e6
    assert Modelled(CALM, 1).call_us(FA3, DECODE) == pytest.approx(CALL_US + read_us)


def test_what_all_arms_of_a_process_have_in_common_cancels_in_differences() -> None:
    drawn = levels(Noise(common_pct=2.0))
    means = [fmean(fmean(arm) for arm in process) for process in drawn]
    assert stdev(means) == pytest.approx(0.02, rel=0.15)
    assert max(abs(first[0] - second[0]) for first, second in drawn) < 1e-12


def test_an_arms_level_stays_through_its_process_and_differs_from_the_next() -> None:
    drawn = levels(Noise(process_pct=0.5))
    assert all(max(visits) - min(visits) < 1e-12 for process in drawn for visits in process)
    differences = [first[0] - second[0] for first, second in drawn]
    assert stdev(differences) == pytest.approx(0.005 * math.sqrt(2), rel=0.15) and abs(fmean(differences)) < 0.001


def test_half_of_an_arms_variance_is_common_to_its_cells() -> None:
    one, other = (
        [process[0][0] for process in levels(Noise(process_pct=1.0), cell_index, arms=1, visits=1)] for cell_index in range(len(CELLS))
    )
    shared = fmean(a * b for a, b in zip(one, other)) / (stdev(one) * stdev(other))
    assert shared == pytest.approx(0.5, abs=0.12)


def test_visits_and_samples_vary_within_a_process() -> None:
    visits = [visit for process in levels(Noise(visit_pct=0.4), arms=1) for visit in process[0]]
    assert stdev(visits) == pytest.approx(0.004, rel=0.15)
    samples = Modelled(replace(CALM, noise=Noise(sample_pct=0.4)), 1).visit_us(FA3, DECODE, 2000, 0.0)
    assert stdev(map(math.log, samples)) == pytest.approx(0.004, rel=0.15)


def test_two_modes_lie_as_far_apart_as_was_chosen_and_both_come() -> None:
    first = [process[0][0] for process in levels(Noise(modes_pct=4.0), arms=1, visits=1)]
    assert {round(level, 9) for level in first} == {-0.02, 0.02}
    assert 0.4 < sum(level > 0 for level in first) / PROCESSES < 0.6


def test_spikes_are_as_rare_and_as_long_as_was_chosen() -> None:
    times = Modelled(replace(CALM, noise=Noise(spike_share=0.1, spike_pct=20.0)), 1)
    spikes = [level for us in times.visit_us(FA3, DECODE, 4000, 0.0) if (level := math.log(us / times.call_us(FA3, DECODE))) > 0]
    assert len(spikes) / 4000 == pytest.approx(0.1, rel=0.2) and fmean(spikes) == pytest.approx(0.2, rel=0.2)


def test_a_drift_moves_all_arms_alike_and_a_transient_dies_away() -> None:
    times = Modelled(replace(CALM, noise=Noise(drift_pct_per_minute=6.0, transient_pct=2.0, transient_s=1.0)), 1)
    for arm in (FA3, FLASHINFER):
        logs = [math.log(times.visit_us(arm, DECODE, 1, at_s)[0] / times.call_us(arm, DECODE)) for at_s in (0.0, 60.0)]
        assert logs == pytest.approx([0.02, 0.06])


def test_a_backend_is_as_much_slower_as_was_chosen_in_its_phase_alone() -> None:
    times = Modelled(replace(CALM, paces=(Pace("fa3", 1.1, Phase.DECODE), Pace("fa3", 2.0, Phase.DECODE))), 1)
    plain = Modelled(CALM, 1)
    assert times.call_us(FA3, DECODE) == pytest.approx(2.2 * plain.call_us(FA3, DECODE))
    assert times.call_us(FA3, PREFILL) == plain.call_us(FA3, PREFILL)
    assert times.call_us(FLASHINFER, DECODE) == plain.call_us(FLASHINFER, DECODE)


def test_a_release_of_a_library_is_slow_only_where_it_is_installed() -> None:
    slow = Pace("flashinfer", 3.0, Phase.DECODE, module="flashinfer", version="0.6.1")

    def call_us(version: str) -> float:
        world = replace(CALM, paces=(slow,), packages=(Package("flashinfer", "flashinfer-python", version),))
        return Modelled(world, 1).call_us(FLASHINFER, DECODE)

    assert call_us("0.6.1") == pytest.approx(3 * call_us("0.6.14"))


NOISES = st.builds(Noise, *(st.floats(0, 3) for _ in range(4)), visit_pct=st.floats(0, 3), sample_pct=st.floats(0, 3))


@settings(max_examples=30, deadline=None)
@given(NOISES, st.integers(0, 99), st.integers(0, 99))
def test_the_same_seeds_draw_the_same_times_whatever_other_arms_do(noise: Noise, seed: int, process: int) -> None:
    world: World = replace(CALM, noise=noise, seed=seed)
    alone, beside = Modelled(world, process), Modelled(world, process)
    beside.visit_us(FLASHINFER, DECODE, 5, 1.0)
    assert alone.visit_us(FA3, DECODE, 5, 2.0) == beside.visit_us(FA3, DECODE, 5, 2.0)
