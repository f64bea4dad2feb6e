from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from backends.arm import Arm, Provider
from backends.measured import CellRound, Round, Visit
from store.boards.calibration import ArmNoise
from tuner.calibrating.noise import lag1, noise_of, sigma_0

ARM = Arm("fa3", Provider.ENGINE, "nowhere:Driver", 1, "bfloat16")
COPY = replace(ARM, copy=2)
CELL = "decode-16"


def measured(index: int, mine: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> Round:
    """``mine`` and ``theirs``: ln of the time of each visit, block by block."""
    visits = [
        Visit(block, position, arm.name, (100.0 * math.exp(value),) * 3)
        for arm, blocks in ((ARM, mine), (COPY, theirs))
        for block, values in enumerate(blocks)
        for position, value in enumerate(values)
    ]
    return Round(index, index, (CellRound(CELL, (), tuple(visits), (), True),), ())


def simulated(process: float, block: float, visit: float, processes: int = 400, blocks: int = 4, seed: int = 1) -> list[Round]:
    rng = random.Random(seed)

    def blocks_of(shift: float) -> list[list[float]]:
        levels = [shift + rng.gauss(0, block) for _ in range(blocks)]
        return [[level + rng.gauss(0, visit) for _ in range(2)] for level in levels]

    return [measured(index, blocks_of(rng.gauss(0, process)), blocks_of(0.0)) for index in range(processes)]


def only(rounds: Sequence[Round]) -> ArmNoise:
    (found,) = noise_of((ARM, COPY), rounds)
    return found


def test_the_three_levels_of_noise_are_told_apart() -> None:
    found = only(simulated(process=0.005, block=0.0, visit=0.002))
    assert (found.arm, found.backend, found.cell, found.processes) == (ARM.name, "fa3", CELL, 400)
    assert found.sigma_visit == pytest.approx(0.002, rel=0.05)
    assert found.sigma_block == pytest.approx(0.002, rel=0.05)  # two visits an arm: sd sqrt(2 x 0.002^2 / 2)
    assert found.sigma_process == pytest.approx(math.hypot(0.005, 0.002 / 2), rel=0.08)
    assert abs(found.mean) < 0.001 and found.equivalent and not found.two_mode


def test_blocks_that_differ_more_than_their_visits_show_in_the_blocks() -> None:
    found = only(simulated(process=0.0, block=0.004, visit=0.001))
    assert found.sigma_block == pytest.approx(math.sqrt(2 * 0.004**2 + 0.001**2), rel=0.05)
    assert found.sigma_process == pytest.approx(found.sigma_block / 2, rel=0.1)  # four blocks


def test_99_of_100_means_of_so_many_processes_lie_below_the_floor() -> None:
    beyond = 0
    for seed in range(300):
        rounds = simulated(process=0.005, block=0.0, visit=0.001, processes=8, seed=seed)
        found = only(rounds)
        beyond += abs(found.mean) > found.floor
    assert beyond <= 10


def test_a_copy_that_is_always_slower_is_not_called_equivalent() -> None:
    found = only([measured(index, [[0.03], [0.03]], [[0.0], [0.0]]) for index in range(8)])
    assert found.mean == pytest.approx(0.03) and not found.equivalent and found.sigma_process == pytest.approx(0.0, abs=1e-12)


def test_an_arm_needs_two_processes_beside_its_copy() -> None:
    assert noise_of((ARM, COPY), simulated(0.01, 0.0, 0.0, processes=1)) == ()
    assert noise_of((ARM,), simulated(0.01, 0.0, 0.0, processes=4)) == ()


def test_an_eager_call_counts_as_it_is_served() -> None:
    served = [
        Round(0, 0, (CellRound(CELL, (), tuple(Visit(0, 0, arm.name, (100.0,), served_us=us) for arm in (ARM, COPY)), (), True),), ())
        for us in (200.0, 200.0)
    ]
    mixed = replace(
        served[0].cells[0], visits=(Visit(0, 0, ARM.name, (1.0,), served_us=110.0), Visit(0, 0, COPY.name, (9.0,), served_us=100.0))
    )
    found = only([*served, replace(served[0], cells=(mixed,))])
    assert found.mean == pytest.approx(math.log(1.1) / 3)


@pytest.mark.parametrize(
    ("differences", "wanted"),
    [([[1.0, -1.0, 1.0, -1.0]], -0.75), ([[1.0, 1.0, -1.0, -1.0]], 0.25), ([[1.0, 2.0]], None), ([[3.0, 3.0, 3.0]], None)],
)
def test_lag_1_is_that_of_neighbouring_blocks(differences: list[list[float]], wanted: float | None) -> None:
    assert lag1(differences) == wanted


def test_nine_of_ten_arms_and_cells_stay_below_sigma_0() -> None:
    noise = [ArmNoise("a", "a", str(each), 8, 0.0, 0.0, 0.0, each / 1000, None, False, 0.0, True) for each in range(1, 21)]
    assert sigma_0(noise) == 0.018
    assert sigma_0(noise[:1]) == 0.001


def test_the_hosts_noise_is_no_floor_where_graphs_are_replayed() -> None:
    device = ArmNoise("a", "a", "decode", 8, 0.0, 0.0, 0.0, 0.002, None, False, 0.0, True)
    host = replace(device, cell="prefill", sigma_process=0.05, with_host=True)
    assert sigma_0([device, host]) == 0.002
    assert sigma_0([host]) == 0.05
