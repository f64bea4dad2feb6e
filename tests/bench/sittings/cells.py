"""What a sitting measures: twenty cells of one model on one server, most of them decode steps."""

from __future__ import annotations

from dataclasses import replace

from backends.cell import Phase
from store.engines.recorded_reason import Shape
from store.plan import Plan
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.auditing.cells import load_of
from tuner.engines.lookup import rules_of
from tuner.workload.cells import cell_of
from tuner.workload.loads import Load

# Requests and tokens behind each. Short calls, since a copy that is 2 % slower takes 50 launches a sample.
DECODE = (
    *((1, 2048), (1, 8192), (1, 32768), (2, 4096), (4, 1024), (4, 4096), (4, 16384), (8, 1024), (8, 4096), (8, 8192)),
    *((16, 1024), (16, 4096), (32, 2048), (64, 1024), (64, 2048)),
)
PREFILL = ((1, 4096), (2, 2048))  # fresh prompts
TURNS = 5


def sitting_cells(plan: Plan) -> tuple[WeightedCell, ...]:
    """The decode cells that the plan has anyway, its guards among them, then those of our own, which weigh nothing."""
    kind = rules_of(plan.scenario).rank_layers(plan.scenario)[0]
    loads = [_load(phase, *shape) for phase, shapes in ((Phase.DECODE, DECODE), (Phase.PREFILL, PREFILL)) for shape in shapes]
    own = (cell_of(plan.scenario, plan.server, load, kind, False) for load in loads)
    decode = (weighted for weighted in plan.cells if weighted.cell.phase is Phase.DECODE)
    return (*decode, *(WeightedCell(cell, kind.layers, 0.0, 0.0) for cell in own))


def slowed_cells(run: Run, turn: int) -> frozenset[str]:
    """The cells take turns to be slowed, a fifth of them in each sitting: fifteen sittings slow every one three times."""
    return frozenset(weighted.cell.name for weighted in run.cells[turn % TURNS :: TURNS])


def _load(phase: Phase, requests: int, tokens: int) -> Load:
    return replace(load_of(Shape(phase, requests, tokens)), name=f"{phase.value}-{requests}x{tokens}")
