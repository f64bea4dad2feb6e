"""The objective: attention milliseconds per 1000 output tokens of a pair of arms, inside one process.

    J = sum over cells of  calls_per_1000_tokens x (layers x t + metadata)

t is the time of one layer's call as it is served, the exponential of the arm's process mean: on the device where a graph
replays it, host included where the engine launches it eagerly. Metadata is once a step, not a layer, and
may hide behind the GPU's work or not; which of the two the server does is not known here, so a decision must hold for both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from backends.measured import CellRound, Round, Visit
from store.decision import Pair
from store.scenario import Objective, WeightedCell
from tuner.arithmetic.statistics import error_of_mean, process_mean

US_PER_MS = 1000.0


class Exposure(Enum):
    """HIDDEN: a step waits for attention alone. EXPOSED: the GPU also idles until the step's metadata is ready."""

    HIDDEN = "hidden"
    EXPOSED = "exposed"


@dataclass(frozen=True)
class Process:
    """One fresh process, reduced. Keys are (arm, cell): ``ln_us`` = mean over visits of ln(served call in us),
    ``metadata_us`` = until the device is idle again after the step's metadata, ``block_ln_us`` = as ``ln_us``, of each block.
    ``board`` it ran on."""

    index: int
    ln_us: Mapping[tuple[str, str], float]
    metadata_us: Mapping[tuple[str, str], float]
    block_ln_us: Mapping[tuple[str, str], Mapping[int, float]] = field(default_factory=dict)
    board: str | None = None

    def timed(self, arm: str, cells: Iterable[WeightedCell]) -> bool:
        keys = [(arm, weighted.cell.name) for weighted in cells]
        return all(key in self.ln_us and key in self.metadata_us for key in keys)


def process_of(round_: Round) -> Process:
    visits = {key: found for cell in round_.cells for key, found in _visits(cell)}
    ln_us = {key: process_mean(map(served, found)) for key, found in visits.items()}
    metadata = {(arm, cell.cell): idle_us for cell in round_.cells for arm, _, idle_us in cell.metadata_us}
    return Process(round_.index, ln_us, metadata, {key: _by_block(found) for key, found in visits.items()}, round_.board)


def _visits(cell: CellRound) -> Iterable[tuple[tuple[str, str], list[Visit]]]:
    for arm in dict.fromkeys(visit.arm for visit in cell.visits):
        yield (arm, cell.cell), [visit for visit in cell.visits if visit.arm == arm]


def _by_block(visits: list[Visit]) -> dict[int, float]:
    blocks = dict.fromkeys(visit.block for visit in visits)
    return {block: process_mean(served(visit) for visit in visits if visit.block == block) for block in blocks}


def served(visit: Visit) -> tuple[float, ...]:
    """What one visit says of a served call, in us. Early runs timed eager calls on the device alone."""
    return visit.sample_us if visit.served_us is None else (visit.served_us,)


def counted(cells: Iterable[WeightedCell], objective: Objective) -> tuple[WeightedCell, ...]:
    """The cells that ``objective`` adds up: steps that generate are TPOT, prefill chunks TTFT, throughput pays for both."""
    generates = {Objective.TPOT: (True,), Objective.TTFT: (False,)}.get(objective, (True, False))
    return tuple(weighted for weighted in cells if weighted.cell.generates in generates and not weighted.is_guard)


def attention_ms(process: Process, pair: Pair, cells: Iterable[WeightedCell], exposure: Exposure = Exposure.HIDDEN) -> float:
    """J over ``cells``, in ms per 1000 output tokens; KeyError for a cell this process did not time."""
    return sum(weighted.calls_per_1000_tokens * step_ms(process, pair, weighted, exposure) for weighted in cells)


def cell_error(process: Process, new: str, old: str, cell: str) -> float:
    """Standard error of ln(new/old) of two arms on one cell, by how much it differs from block to block of this process: what no
    other process is needed to know. 0 where it has too few blocks to tell."""
    mine, theirs = (process.block_ln_us.get((arm, cell), {}) for arm in (new, old))
    return error_of_mean([mine[block] - theirs[block] for block in mine if block in theirs])


def attention_error(process: Process, new: Pair, old: Pair, cells: Iterable[WeightedCell]) -> float:
    """The same of ln(new/old) of J over ``cells``, each by its share of the new one's."""
    parts = [
        (weighted.calls_per_1000_tokens * step_ms(process, new, weighted), cell_error(process, *_seats(new, old, weighted)))
        for weighted in cells
    ]
    return math.sqrt(sum((ms * error) ** 2 for ms, error in parts)) / sum(ms for ms, _ in parts)


def _seats(new: Pair, old: Pair, weighted: WeightedCell) -> tuple[str, str, str]:
    phase = weighted.cell.phase
    return new.of(phase), old.of(phase), weighted.cell.name


def step_ms(process: Process, pair: Pair, weighted: WeightedCell, exposure: Exposure = Exposure.HIDDEN) -> float:
    """One step's attention in all layers of the cell's kind, in ms."""
    key = (pair.of(weighted.cell.phase), weighted.cell.name)
    metadata_us = process.metadata_us[key] if exposure is Exposure.EXPOSED else 0.0
    return (weighted.layers * math.exp(process.ln_us[key]) + metadata_us) / US_PER_MS
