"""Simulated GPUs for tests, and what a process measures on one; in this process, in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends import rounds, trial
from backends.arm import Arm, Provider
from backends.cell import Cell
from backends.environment import Board
from backends.measured import Round, Trial
from backends.model import LayerKind
from backends.phases import Say
from backends.simulated.world import Fault, Misfortune, World
from backends.spec import StageSpec, TimingSpec
from tests.backends.small import decode, model, prefill, silent

TIMING = TimingSpec(blocks=4, replays=8, replay_ms=4.0, discard_ms=5.0, warmup_s=1.0, warmup_cap_s=10.0)
LAYER = LayerKind("full", layers=2, query_heads=32, kv_heads=8, head_dim=128, value_head_dim=128)
BOARD = Board("cuda", "simulated H200", 90, "simulated-0", 140 << 30, 700.0, None, "simulated", 132, 60 << 20, 227 << 10, 1980)
CALM = World(board=replace(BOARD, bandwidth_bytes_per_s=4.8e12), peak_flops=989e12, cuda="13.0")
DECODE = decode(*[2000] * 16, layer=LAYER, dtype="bfloat16")
PREFILL = prefill((0, 4096), layer=LAYER, dtype="bfloat16")
CELLS = (DECODE, PREFILL)


def arm(backend: str) -> Arm:
    """Its driver is never looked at."""
    return Arm(backend, Provider.ENGINE, "nowhere:Driver", 1, "bfloat16", (backend,))


FA3, FLASHINFER = arm("fa3"), arm("flashinfer")


def stage(world: World) -> StageSpec:
    return StageSpec("cuda", model(LAYER, "bfloat16"), 1, 32_768, 8192, None, 0.6, 256, world)


def struck(*faults: Fault, world: World = CALM) -> World:
    return replace(world, faults=faults)


def fault(kind: str, **where: object) -> Fault:
    return Fault(Misfortune(kind), **where)  # type: ignore[arg-type]


def tried(world: World, arm: Arm = FA3, cells: Sequence[Cell] = CELLS) -> list[Trial]:
    return list(trial.run(arm, cells, stage(world), TIMING, silent))


def raced(
    world: World,
    arms: Sequence[Arm] = (FA3, FLASHINFER),
    cells: Sequence[Cell] = CELLS,
    seed: int = 7,
    timing: TimingSpec = TIMING,
    say: Say = silent,
    spaced: Sequence[str] = (),
    streamed: tuple[tuple[str, int], ...] = (),
) -> Round:
    *_, last = rounds.run(0, seed, arms, cells, replace(stage(world), streamed=streamed), timing, say, spaced=spaced)
    assert isinstance(last, Round)
    return last
