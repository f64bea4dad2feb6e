"""Comparisons whose truth is known: rounds made from numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from backends.measured import CellRound, Round, Visit
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run

Times = Callable[[int, str, str, int, int], float]  # of a side, an arm, a cell, a block and a position in its pass: ln us
BLOCKS = 4


def compared(run: Run, rounds: int, times: Times, arms: Sequence[str] = ()) -> SideBySide:
    """``run`` on both sides, each with ``rounds`` rounds of all its arms and cells."""
    names = list(arms or (arm.name for arm in run.arms))
    cells = [weighted.cell.name for weighted in run.cells]
    pairs = [[_round(index, side, names, cells, times) for side in (0, 1)] for index in range(rounds)]
    baseline, candidate = (replace(run, rounds=tuple(pair[side] for pair in pairs)) for side in (0, 1))
    return SideBySide("c", "d", "running", run.created, "attnpin compare", ("present", "present"), baseline, candidate)


def _round(index: int, side: int, arms: Sequence[str], cells: Sequence[str], times: Times) -> Round:
    return Round(index, index, tuple(_cell(index, side, arms, cell, times) for cell in cells), seconds=())


def _cell(index: int, side: int, arms: Sequence[str], cell: str, times: Times) -> CellRound:
    visits = [
        Visit(
            block,
            place,
            arm,
            (math.exp(times(side, arm, cell, block, place) + 0.001 * random.Random(f"{index}/{side}/{arm}/{cell}").gauss(0, 1)),),
        )
        for block in range(BLOCKS)
        for place, arm in enumerate([*arms, *reversed(arms)])
    ]
    metadata = tuple((arm, 10.0, 20.0) for arm in arms)
    return CellRound(cell, tuple((arm, 1) for arm in arms), tuple(visits), metadata, settled=True)
