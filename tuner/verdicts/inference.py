"""The tests behind a verdict, for many cells at once: t tests of fresh rounds, Holm over cells, two one-sided tests for sameness.

numpy and scipy.special alone: scipy.stats has no Holm, and importing it takes longer than a verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from tuner.arithmetic.statistics import POWER

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Estimates:
    """ln(new/old) of each cell with its standard error, shape (..., cells), over ``rounds``; ``df`` broadcasts to them."""

    centre: Array
    error: Array
    df: Any
    rounds: int

    def half_width(self, alpha: float) -> Array:
        """Of an interval that misses on either side with ``alpha``."""
        half: Array = exceeded_with(alpha, self.df) * self.error
        return half


def estimates(d: Array, floor: float) -> Estimates:
    """Of ``d``, shape (..., rounds, cells): rounds are the unit, and a spread below ``floor`` is luck. Raises ValueError below two."""
    rounds = d.shape[-2]
    if rounds < 2:
        raise ValueError(f"{rounds} round: a comparison takes two rounds at least, since one says nothing of its own error")
    spread = np.maximum(d.std(axis=-2, ddof=1), floor)
    return Estimates(d.mean(axis=-2), spread / math.sqrt(rounds), rounds - 1, rounds)


def slower(found: Estimates, margin: float) -> Array:
    """p values of "slower by at most ``margin``", each by itself."""
    p: Array = stdtr(found.df, -(found.centre - margin) / found.error)
    return p


def faster(found: Estimates, margin: float) -> Array:
    p: Array = stdtr(found.df, (found.centre + margin) / found.error)
    return p


def same(found: Estimates, margin: float, alpha: float) -> Flags:
    """Surely within ``margin`` either way (Schuirmann's two one-sided tests); an intersection-union test needs no correction."""
    flags: Flags = np.abs(found.centre) + found.half_width(alpha) < margin
    return flags


def holm(p: Array) -> Array:
    """``p`` adjusted over the last axis for a family-wise error rate (Holm 1979)."""
    order = np.argsort(p, axis=-1)
    count = p.shape[-1]
    stepped = np.take_along_axis(p, order, axis=-1) * np.arange(count, 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(stepped, axis=-1), 1.0)
    result: Array = np.take_along_axis(adjusted, np.argsort(order, axis=-1), axis=-1)
    return result


def minimum_detectable(found: Estimates, margin: float, alpha: float) -> Array:
    """The smallest true change, a fraction, that is called one with `POWER` at ``alpha``: beyond the margin by both quantiles."""
    effect: Array = np.expm1(margin + (exceeded_with(alpha, found.df) + exceeded_with(1 - POWER, found.df)) * found.error)
    return effect


def exceeded_with(alpha: float, df: Any) -> Any:
    """The t quantile that is exceeded with ``alpha``."""
    return stdtrit(df, 1 - alpha)
