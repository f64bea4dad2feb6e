"""What is measured: decode steps of equal requests as the engine's benchmark makes them, and the prefills that are one chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.cell import Cell, Phase
from store.plan import Plan
from store.scenario import WeightedCell
from tuner.engines.lookup import rules_of
from tuner.workload.cells import cell_of
from tuner.workload.loads import Load

BACKENDS = ("fa3", "triton", "flashinfer", "fa4")
ARMS = (*BACKENDS, "fa4/fa3")  # prefill/decode
BATCHES, INPUTS = (1, 16, 64), (512, 2048, 4096)
RUNS, STEPS, WARM_STEPS = 5, 4, 2  # of an engine process in turns: runs, decode steps of an arm one way, and before the first run
OUTPUT = len(ARMS) * (WARM_STEPS + 2 * RUNS * STEPS)  # tokens
CHUNK = 8192  # tokens: what a server computes at once
REQUEST = (
    *("model=qwen3_8b", "traffic=chat", f"measure.backends=[{','.join(BACKENDS)}]", "engine.cuda_graph_bs=[1,16,64]"),
    *("measure.rest=true", "measure.memory_fraction=0.8", "measure.timing.blocks=2", "measure.timing.warmup_cap_s=2"),
)


@dataclass(frozen=True)
class Ground:
    """``arms`` by backend, and the plan that has just the cells here."""

    arms: dict[str, Arm]
    plan: Plan

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(weighted.cell for weighted in self.plan.cells)


def ground_of(plan: Plan) -> Ground:
    (kind,) = rules_of(plan.scenario).rank_layers(plan.scenario)
    made = ((load, cell_of(plan.scenario, plan.server, load, kind, False)) for load in loads())
    cells = tuple(WeightedCell(cell, kind.layers, 1.0, load.share) for load, cell in made)
    return Ground({arm.backend: arm for arm in plan.arms if arm.backend in BACKENDS and arm.is_original}, replace(plan, cells=cells))


def loads() -> Iterator[Load]:
    """In a decode step half of the output is there."""
    for batch in BATCHES:
        for tokens in INPUTS:
            name, share = f"{batch}x{tokens}", 1 / len(BATCHES) / len(INPUTS)
            yield Load(f"decode-{name}", Phase.DECODE, (tokens + OUTPUT // 2,) * batch, (1,) * batch, (tokens,) * batch, share)
            if batch * tokens <= CHUNK:
                yield Load(f"prefill-{name}", Phase.PREFILL, (tokens,) * batch, (tokens,) * batch, (tokens,) * batch, share)
