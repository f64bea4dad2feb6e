"""Where in a series of sittings times changed. Pure.

A place to split is sought as E-divisive does (Matteson and James, arXiv 1306.4933): the one that puts the two parts farthest apart by
energy distance. It counts, as in Hunter (Fleming et al., arXiv 2301.03034), if a t test of the two parts says so; permutations cannot
reach such a p value on few points. Both parts are then searched alike. It says when, never whether one version is slower than another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from store.past.course import ChangePoint
from tuner.verdicts.inference import Array

FEWEST_POINTS = 10
PART = 2  # points on either side of a change
P_VALUE = 0.001
LEAST = math.log(1.02)
FLOOR = 0.001  # of a spread: ten equal times are no certainty


def change_points(values: Sequence[float]) -> tuple[ChangePoint, ...] | None:
    """Of ``values`` (ln us, one a sitting, in order); None below `FEWEST_POINTS`, where nobody can say."""
    if len(values) < FEWEST_POINTS:
        return None
    return tuple(sorted(_search(np.asarray(values), 0), key=lambda change: change.at))


def _search(values: Array, start: int) -> list[ChangePoint]:
    if len(values) < 2 * PART:
        return []
    at = farthest(values)
    before, after = values[:at], values[at:]
    change, p = float(after.mean() - before.mean()), _p_value(before, after, len(values) - 2 * PART + 1)
    if p >= P_VALUE or abs(change) < LEAST:
        return []
    return [*_search(before, start), ChangePoint(start + at, math.exp(change), p), *_search(after, start + at)]


def farthest(values: Array) -> int:
    """Where the second part begins, if the two are to be as far apart as they can."""
    n = np.arange(PART, len(values) - PART + 1)
    return int(n[np.argmax(_energies(np.abs(values[:, None] - values[None, :]), n))])


def _energies(apart: Array, n: NDArray[np.int64]) -> Array:
    """Twice the mean distance between the parts less those inside them, by the parts' sizes: of each split after ``n`` values."""
    m, whole = len(apart) - n, apart.sum()
    sums = apart.cumsum(axis=0).cumsum(axis=1)  # of the distances up to a row and a column
    first, up_to = sums[n - 1, n - 1], sums[n - 1, -1]
    between, second = up_to - first, whole - 2 * up_to + first
    energies: Array = n * m / (n + m) * (2 * between / (n * m) - first / (n * (n - 1)) - second / (m * (m - 1)))
    return energies


def _p_value(before: Array, after: Array, places: int) -> float:
    """Welch's t test, two-sided, times the ``places`` that were tried."""
    parts = [(max(part.var(ddof=1), FLOOR**2) / len(part), len(part) - 1) for part in (before, after)]
    variance = sum(part for part, _ in parts)
    df = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    return min(1.0, 2 * places * float(stdtr(df, -abs(after.mean() - before.mean()) / math.sqrt(variance))))
