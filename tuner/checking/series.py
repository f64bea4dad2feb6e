"""The times of a run as the screen against stored times takes them: ln of process means. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from store.decision import Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.arithmetic.objective import attention_ms, process_of
from tuner.verdicts.inference import Array

Key = tuple[str, str]  # arm, cell
Series: TypeAlias = Mapping[Key, Array]  # ln us, one a process; arms that left a race have fewer


def series_of(run: Run) -> Series:
    found: dict[Key, list[float]] = {}
    for process in map(process_of, run.rounds):
        for key, value in process.ln_us.items():
            found.setdefault(key, []).append(value)
    return {key: np.array(values) for key, values in found.items()}


def objective_series(run: Run, pair: Pair, cells: Sequence[WeightedCell]) -> Array:
    """ln ms of attention per 1000 output tokens, one a process that timed ``pair`` on all ``cells``."""
    seats = [(pair.of(weighted.cell.phase), weighted) for weighted in cells]
    whole = (process for process in map(process_of, run.rounds) if all(process.timed(arm, (weighted,)) for arm, weighted in seats))
    return np.log([attention_ms(process, pair, cells) for process in whole])


def shares(series: Series, pair: Pair, cells: Iterable[WeightedCell]) -> dict[str, float]:
    """How much of the objective each cell is."""
    parts = {
        weighted.cell.name: weighted.calls_per_1000_tokens * weighted.layers * float(np.exp(series[key].mean()))
        for weighted in cells
        if (key := (pair.of(weighted.cell.phase), weighted.cell.name)) in series
    }
    whole = sum(parts.values())
    return {cell: part / whole for cell, part in parts.items()}
