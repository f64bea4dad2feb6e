"""What moved between two sittings although no code changed, as the cell felt it: taken off before versions are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.verdicts.inference import Array

MOST_DRIFT = 0.03  # of an anchor, in ln: beyond it the two sittings are not alike
UNSURE_EXPOSURE = 0.29  # sd of a share that lies anywhere between half and one and a half: 1 / sqrt(12)


@dataclass(frozen=True)
class Correction:
    """``shift`` (ln, of each cell) is taken off the difference. Its ``variance`` is known with ``df`` degrees of freedom;
    ``exposure`` is the sd of how much of an anchor's drift the cell feels."""

    shift: Array
    variance: Array
    df: float
    exposure: Array

    @property
    def too_large(self) -> bool:
        """Only of anchors: a control is the same kernel on the same cell and feels what the cell feels."""
        return bool(np.any(self.exposure > UNSURE_EXPOSURE * MOST_DRIFT))


def by_controls(new: Array, old: Array) -> Correction:
    """From backends that are the same on both sides: ``new`` and ``old`` (processes, controls, cells) of ln time. The median over
    them; no less sure than the least sure of them."""
    shift = np.median(new.mean(axis=0) - old.mean(axis=0), axis=0)
    variance = np.max(_variance(new) + _variance(old), axis=0)
    return Correction(shift, variance, min(len(new), len(old)) - 1, np.zeros_like(shift))


def by_anchor(new: Array, old: Array, cells: int) -> Correction:
    """From the anchor of the cells' bound class (memory, arithmetic or launches): ``new`` and ``old`` are its visits' ln times."""
    shift = np.full(cells, new.mean() - old.mean())
    variance = np.full(cells, _variance(new) + _variance(old))
    return Correction(shift, variance, min(len(new), len(old)) - 1, UNSURE_EXPOSURE * np.abs(shift))


def none(cells: int) -> Correction:
    return Correction(np.zeros(cells), np.zeros(cells), np.inf, np.zeros(cells))


def _variance(times: Array) -> Array:
    """Of the mean over the first axis."""
    result: Array = np.asarray(times.var(axis=0, ddof=1) / len(times))
    return result
