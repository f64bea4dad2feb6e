"""Times between the cells that were measured, log-log: what the others foretell of one.

Attention takes time for work: keys that are read, or products of queries and keys, whichever takes longer on a GPU. What a unit of work
takes is smooth, so that is interpolated: ln(time / work) by a plane over the cell's coordinates, fitted to all cells, near ones first.
Nothing is foretold beyond a factor of 2 of what the cells span.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from backends.cell import Cell, attention_flops, visible_keys

Floats = npt.NDArray[np.float64]

REACH = math.log(2) + 1e-9
BYTES, BALANCE = 2, 250  # of an element; flop that a GPU multiplies while it reads a byte (H200: 206, L4: 403)
STIFF = 0.05  # of the weight of all points: how strongly the plane is held level where they say little


def left_out(ln_us: Mapping[Cell, float]) -> dict[Cell, float | None]:
    """ln(foretold / measured) of each cell from all others; None where it lies beyond their reach. Cells of one phase and layer kind; steps
    that generate say nothing of prefills on the same side, nor these of them."""
    cells = tuple(ln_us)
    return {cell: _missed(cell, {other: ln_us[other] for other in cells if other is not cell}, ln_us[cell]) for cell in cells}


def _missed(cell: Cell, others: Mapping[Cell, float], measured: float) -> float | None:
    found = foretold(others, cell)
    return None if found is None else found - measured


def foretold(ln_us: Mapping[Cell, float], at: Cell) -> float | None:
    """ln of the time in us at a cell that was not measured, or None."""
    ln_us = {cell: us for cell, us in ln_us.items() if cell.generates is at.generates}
    if not ln_us:
        return None
    points, target = np.array([coordinates(cell) for cell in ln_us]), np.array(coordinates(at))
    if (target < points.min(axis=0) - REACH).any() or (target > points.max(axis=0) + REACH).any():
        return None
    values = np.array([us - _ln_work(cell) for cell, us in ln_us.items()])
    return _plane(points - target, values) + _ln_work(at)


def coordinates(cell: Cell) -> tuple[float, ...]:
    """ln of batch and mean context; of a prefill ln of new tokens and mean context."""
    first = cell.batch if cell.generates else cell.new_tokens
    return math.log(first), math.log(sum(cell.context_lens) / cell.batch)


def _plane(offsets: Floats, values: Floats) -> float:
    """Its height at the origin: weighted least squares, the slopes held towards 0."""
    weight = np.exp(-((offsets**2).sum(axis=1)) / (2 * REACH**2)) + 1e-9
    design = np.hstack((np.ones((len(offsets), 1)), offsets))
    held = np.diag([0.0, *[STIFF * weight.sum()] * offsets.shape[1]])
    normal = design.T @ (weight[:, None] * design) + held
    return float(np.linalg.solve(normal, design.T @ (weight * values))[0])


@lru_cache(maxsize=256)
def _ln_work(cell: Cell) -> float:
    read = visible_keys(cell) * cell.layer.cached_width * BYTES
    return math.log(read if cell.generates else max(read, attention_flops(cell) / BALANCE))
