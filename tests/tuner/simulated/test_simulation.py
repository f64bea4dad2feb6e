"""From the settings of gpu=simulated to the world a worker is told of; what makes no sense is refused in a sentence."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import pytest

from backends.cell import Phase
from backends.simulated.modelled import factor
from backends.simulated.world import Fault, Misfortune, Noise, World
from backends.spec import StageSpec
from backends.wire import from_plain, to_plain
from tests.backends.simulated.worlds import CALM, arm, stage
from tuner.composing.simulation import with_packages
from tuner.errors import UsageError
from tuner.schema import simulated
from tuner.settings import compose

SIMULATED = ("gpu=simulated", "backend=[fa3,flashinfer,torch_native]")
FLASHINFER = arm("flashinfer")


@cache
def world(*overrides: str) -> World:
    made = compose([*SIMULATED, *overrides]).world
    assert made is not None
    return made


def test_the_board_has_the_figures_of_the_sheet_and_a_name_that_gives_it_away() -> None:
    settings = compose([*SIMULATED])
    assert settings.world is not None
    board, gpu = settings.world.board, settings.scenario.gpu
    assert board.name == gpu.name == "simulated H200"
    assert (board.sm, board.memory_bytes, board.l2_bytes) == (gpu.sm, gpu.memory_bytes, gpu.l2_bytes)
    assert board.bandwidth_bytes_per_s == gpu.bandwidth_bytes_per_s


def test_another_version_is_of_a_distribution_however_its_name_is_spelt() -> None:
    assert with_packages(world(), ["FlashInfer_Python==0.6.1"]) == with_packages(world(), ["flashinfer-python==0.6.1"]) != world()


def test_further_boards_are_alike_but_for_their_numbers_and_the_factors_that_are_asked_for() -> None:
    settings = compose(
        [*SIMULATED, "gpu.simulated.boards=[{}, {common: 1.02, paces: [{backend: flashinfer, phase: decode, factor: 1.1}]}]"]
    )
    home, *others = (settings.world, *settings.other_worlds)
    assert home is not None and len(others) == 2 and home == world()
    assert len({each.board.uuid for each in (home, *others) if each}) == 3
    assert all(each and replace(each.board, uuid=None) == replace(home.board, uuid=None) for each in others)
    slower = [[factor(each, FLASHINFER, phase) / factor(home, FLASHINFER, phase) for phase in Phase] for each in others if each]
    assert slower == [pytest.approx([1, 1]), pytest.approx([1.02 * 1.1 if phase is Phase.DECODE else 1.02 for phase in Phase])]


def test_a_real_gpu_stands_on_nothing_simulated() -> None:
    assert compose(["gpu=h200", "backend=[fa3]"]).world is None


def test_factors_faults_and_versions_arrive() -> None:
    made = world("gpu.simulated.factor.fa3.decode=1.1", "gpu.simulated.faults=[{kind: thermal, process: 3, after_s: 20}]")
    assert (factor(made, arm("fa3"), Phase.DECODE), factor(made, arm("fa3"), Phase.PREFILL)) == (1.1, 1.0)
    assert made.faults == (Fault(Misfortune.THERMAL, process=3, after_s=20.0),)
    assert made.eager == ("torch_native",)
    assert {package.module: package.distribution for package in made.packages}["flashinfer"] == "flashinfer-python"


def test_a_release_that_is_known_to_be_slow_is_slow_where_it_is_installed() -> None:
    slow, fast = (world(f"gpu.simulated.versions.flashinfer={version}") for version in ("0.6.1", "0.6.14"))
    assert factor(slow, FLASHINFER, Phase.DECODE) == pytest.approx(3.2 * factor(fast, FLASHINFER, Phase.DECODE))
    assert factor(slow, FLASHINFER, Phase.PREFILL) == factor(fast, FLASHINFER, Phase.PREFILL)


def test_another_noise_is_another_board_and_another_seed_fault_or_version_is_not() -> None:
    def uuid(*overrides: str) -> str | None:
        return world(*overrides).board.uuid

    same = ("gpu.simulated.seed=5", "gpu.simulated.versions.flashinfer=0.6.1", "gpu.simulated.faults=[{kind: nans}]")
    assert {uuid(override) for override in same} == {uuid()}
    assert uuid("gpu.simulated.noise.visit_pct=0.5") != uuid() != uuid("gpu.simulated.factor.fa3.decode=1.1")


def test_the_words_of_the_schema_are_those_of_the_record() -> None:
    assert {kind.name for kind in simulated.Misfortune} == {kind.value for kind in Misfortune}
    assert {field.name for field in fields(simulated.NoiseNode)} == {field.name for field in fields(Noise)}


def test_the_stage_with_its_world_travels() -> None:
    told = stage(replace(CALM, faults=(Fault(Misfortune.NANS, phase=Phase.DECODE),)))
    assert from_plain(StageSpec, to_plain(told)) == told


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["gpu=h200", "gpu.simulated.seed=1"], "gpu.simulated needs gpu=simulated or gpu=replay"),
        (["gpu=simulated", "gpu.name=H200"], "names of simulated GPUs begin with 'simulated '"),
        (["gpu=h200", "gpu.name='simulated H200'"], "names of simulated GPUs begin with 'simulated '"),
        (["gpu=simulated", "gpu.simulated.sed=1"], "did you mean gpu.simulated.seed"),
        (
            ["gpu=simulated", "gpu.simulated.noise.visit_pct=-1"],
            r"noise.visit_pct=-1.0 is not possible; it must be 0 or more",
        ),
        (["gpu=simulated", "gpu.simulated.noise.spike_share=2"], r"spike_share=2.0 is not possible; it must be at least 0 and at most 1"),
        (["gpu=simulated", "gpu.simulated.factor.fa3.decode=0"], r"factor.fa3.decode=0.0 is not possible; it must be above 0"),
        (["gpu=simulated", "gpu.simulated.faults=[{kind: nans, after_s: -3}]"], r"faults\[0\].after_s=-3.0 is not possible"),
        (["gpu=simulated", "gpu.simulated.faults=[{kind: melts}]"], "kind cannot be 'melts'"),
        (["gpu=simulated", "gpu.peak_flops=null"], "gpu.peak_flops is missing, and no time on simulated H200 can be made up without it"),
        (["gpu=replay", "gpu.simulated.recording=nothing"], "no recorded run is called 'nothing'"),
    ],
)
def test_what_makes_no_sense_is_refused(overrides: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        compose(["backend=[fa3]", *overrides])
