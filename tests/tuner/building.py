"""Runs built from a table of times, for the tests of whatever reads a run. Values in the defaults are made up."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backends.arm import Arm, Provider
from backends.blocks import palindromes
from backends.cell import Cell, Phase
from backends.environment import Board, Environment
from backends.gpu import Gpu
from backends.measured import CellRound, Cost, Identity, Round, Trial, Visit
from backends.model import Attention, LayerKind, Model
from backends.outcome import Outcome
from backends.spec import TimingSpec
from store.runs.run import PROTOCOL_VERSION, DefaultPick, Run
from store.scenario import Decide, Engine, Exclusion, Measure, Objective, Scenario, Speculation, WeightedCell
from store.traffic import Lengths, Traffic

LAYERS = 32
LAYER = LayerKind("full", LAYERS, 32, 8, 128, 128)
MODEL = Model("made_up_8b", "LlamaForCausalLM", Attention.MHA, (LAYER,), 4096, 128256, 8e9, 8e9, "bfloat16", 131072, "made up")
H200 = Gpu("NVIDIA H200", "cuda", 90, 132, 150754820096, 62914560, 4.8e12, 989e12, 232448, "13.0", "datasheet")
ENGINE = Engine("sglang", "0.5.16", 1, (), (), Speculation(), "auto", None, None, (), None, None, None, None)
TIMING = TimingSpec(blocks=4, replays=8, replay_ms=4.0, discard_ms=5.0, warmup_s=1.0, warmup_cap_s=10.0)
DECIDE = Decide(Objective.THROUGHPUT, min_gain=0.01, max_cell_loss=0.05, tie_margin=0.01, confidence=0.95, sigma_floor=0.006)
DECODE, PREFILL = "decode_b64", "prefill_4k"
Times = Mapping[tuple[str, str], float]


def arm(backend: str, page_size: int = 1, provider: Provider = Provider.ENGINE, kv_dtype: str = "bfloat16") -> Arm:
    return Arm(backend, provider, "backends.sglang.driver:Driver", page_size, kv_dtype, (backend,))


def decode(name: str = DECODE, batch: int = 64, context: int = 2048, tokens: float = 1.0, calls: float | None = None) -> WeightedCell:
    """``calls`` = steps per 1000 output tokens, by default those of its share of tokens."""
    cell = Cell(name, Phase.DECODE, LAYER, (context,) * batch, (1,) * batch, (context - 1,) * batch, batch, "bfloat16", 7)
    return WeightedCell(cell, LAYERS, 1000 * tokens / batch if calls is None else calls, tokens)


def prefill(name: str = PREFILL, new: int = 4096, prefix: int = 0, tokens: float = 1.0, calls: float = 0.5) -> WeightedCell:
    cell = Cell(name, Phase.PREFILL, LAYER, (prefix + new,), (new,), (prefix + new,), 1, "bfloat16", 7)
    return WeightedCell(cell, LAYERS, calls, tokens)


@dataclass(frozen=True)
class Recipe:
    """``times_us`` of (arm name, cell name), without noise; ``process_sd`` and ``visit_sd`` are of ln(time), drawn per arm
    and process, and per visit. ``modes`` and ``kernels`` of (arm, cell) default to graph in decode, eager in prefill, and
    to one kernel an arm. ``failures`` of (arm, cell) replace its trial and its visits. ``asked``: processes of the request, by
    default those that are there."""

    arms: tuple[Arm, ...]
    times_us: Times
    cells: tuple[WeightedCell, ...] = (decode(), prefill())
    default: tuple[str, str] = ("fa3", "fa3")
    processes: int = 4
    process_sd: float = 0.002
    visit_sd: float = 0.001
    metadata_us: Times = field(default_factory=dict)
    modes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    kernels: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    failures: Mapping[tuple[str, str], tuple[Outcome, str]] = field(default_factory=dict)
    exclusions: tuple[Exclusion, ...] = ()
    labels: tuple[str, ...] = ()
    settled: bool = True
    model: Model = MODEL
    gpu: Gpu = H200
    engine: Engine = ENGINE
    decide: Decide = DECIDE
    page_size: int = 1
    seed: int = 3
    asked: int | None = None


def build(recipe: Recipe) -> Run:
    """A finished run without a decision, deterministic in ``recipe.seed``."""
    return Run(
        id="run1",
        digest="sha256:0",
        protocol=PROTOCOL_VERSION,
        status="finished",
        created="2026-01-02T03:04:05Z",
        tool_version="0.1.0",
        command="attnpin tune",
        scenario=_scenario(recipe),
        environment=_environment(recipe),
        engine_version=recipe.engine.version,
        default=DefaultPick(*recipe.default, recipe.page_size, "auto", "Hopper takes fa3", "0.5.16"),
        arms=recipe.arms,
        cells=recipe.cells,
        exclusions=recipe.exclusions,
        trials=tuple(_trial(recipe, arm, weighted) for arm, weighted in _attempts(recipe)),
        rounds=tuple(_round(recipe, index) for index in range(recipe.processes)),
        decision=None,
        wall_seconds=(("timing", 60.0),),
    )


def one_cell_each(times: Mapping[str, tuple[float, float]], **changes: Any) -> Run:
    """Arms by backend name with (prefill us, decode us) on the two standard cells; other `Recipe` fields as ``changes``."""
    arms = tuple(arm(backend) for backend in times)
    table = {(made.name, cell): us for made, pair in zip(arms, times.values()) for cell, us in zip((PREFILL, DECODE), pair)}
    return build(Recipe(arms, table, **changes))


def rescaled(run: Run, factor: float) -> Run:
    """The same run on a machine ``factor`` times as slow at attention and its metadata."""

    def cell(old: CellRound) -> CellRound:
        visits = tuple(replace(visit, sample_us=tuple(us * factor for us in visit.sample_us)) for visit in old.visits)
        return replace(old, visits=visits, metadata_us=tuple((arm, host * factor, idle * factor) for arm, host, idle in old.metadata_us))

    return replace(run, rounds=tuple(replace(round_, cells=tuple(map(cell, round_.cells))) for round_ in run.rounds))


def _attempts(recipe: Recipe) -> Iterable[tuple[Arm, WeightedCell]]:
    for made in recipe.arms:
        for weighted in recipe.cells:
            key = (made.name, weighted.cell.name)
            if key in recipe.times_us or key in recipe.failures:
                yield made, weighted


def _trial(recipe: Recipe, made: Arm, weighted: WeightedCell) -> Trial:
    key = (made.name, weighted.cell.name)
    if key in recipe.failures:
        return Trial(*key, *recipe.failures[key])
    mode = recipe.modes.get(key, "graph" if weighted.cell.phase is Phase.DECODE else "eager")
    identity = Identity(made.backend, mode, recipe.kernels.get(key, (f"{made.backend}_kernel",)))
    metadata = recipe.metadata_us.get(key, 10.0)
    return Trial(*key, Outcome.MEASURED, identity=identity, cost=Cost(recipe.times_us[key], None, metadata, metadata), relative_error=1e-3)


def _round(recipe: Recipe, index: int) -> Round:
    rng = random.Random(1000 * recipe.seed + index)
    cells = tuple(_cell_round(recipe, weighted, rng) for weighted in recipe.cells)
    return Round(index, index, cells, (("timing", 15.0),), recipe.labels)


def _cell_round(recipe: Recipe, weighted: WeightedCell, rng: random.Random) -> CellRound:
    name = weighted.cell.name
    arms = [made.name for made in recipe.arms if (made.name, name) in recipe.times_us and (made.name, name) not in recipe.failures]
    levels = {made: math.log(recipe.times_us[made, name]) + rng.gauss(0, recipe.process_sd) for made in arms}
    orders = palindromes(arms, TIMING.blocks, rng)
    visits = tuple(
        Visit(block, position, made, _samples(levels[made] + rng.gauss(0, recipe.visit_sd)))
        for block, order in enumerate(orders)
        for position, made in enumerate(order)
    )
    metadata = tuple((made, recipe.metadata_us.get((made, name), 10.0), recipe.metadata_us.get((made, name), 10.0)) for made in arms)
    return CellRound(name, tuple((made, LAYERS) for made in arms), visits, metadata, recipe.settled)


def _samples(level: float) -> tuple[float, ...]:
    return (math.exp(level),) * TIMING.replays


def _scenario(recipe: Recipe) -> Scenario:
    traffic = Traffic("chat", Lengths(1000, 6000), Lengths(250, 800), 64, 0.3, "made up")
    asked = recipe.processes if recipe.asked is None else recipe.asked
    measure = Measure("quick", asked, TIMING, 0.6, (), 0)
    return Scenario(recipe.model, recipe.gpu, traffic, recipe.engine, measure, recipe.decide)


def _environment(recipe: Recipe) -> Environment:
    gpu = recipe.gpu
    board = Board(gpu.kind, gpu.name, gpu.sm, "GPU-0", gpu.memory_bytes, 700.0, None, "580.95.05")
    return Environment(board, "3.12.3", "2.11.0", "13.0", "3.6.0", (), (), None, ())
