"""Where in a series of sittings times changed. Pure.

A place to split is sought as E-divisive does (Matteson and James, arXiv 1306.4933): the one that puts the two parts farthest apart by
energy distance. It counts, as in Hunter (Fleming et al., arXiv 2301.03034), if a t test of the two parts says so; permutations cannot
reach such a p value on few points. Both parts are then searched alike. It says when, never whether one version is slower than another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from store.past.course import ChangePoint
from tuner.verdicts.inference import Array

FEWEST_POINTS = 10
PART = 2  # points on either side of a change
MOST_LEFT_OUT = 10  # points at an end
P_VALUE = 0.001
LEAST = math.log(1.02)
FLOOR = 0.001  # of a spread: ten equal times are no certainty


def change_points(values: Sequence[float]) -> tuple[ChangePoint, ...] | None:
    """Of ``values`` (ln us, one a sitting, in order); None below `FEWEST_POINTS`, where nobody can say."""
    if len(values) < FEWEST_POINTS:
        return None
    return tuple(sorted(_search(np.asarray(values), 0), key=lambda change: change.at))


def _search(values: Array, start: int) -> list[ChangePoint]:
    found = _surest(values)
    if found is None:
        return []
    before, after = values[: found.at], values[found.at :]
    return [*_search(before, start), replace(found, at=start + found.at), *_search(after, start + found.at)]


def _surest(values: Array) -> ChangePoint | None:
    """In all of ``values``, else where up to `MOST_LEFT_OUT` points of one end are left out: those that went back, as after a cure, else
    hide what they went back from. So many tries hit upon two times that agree by chance: there a part takes more points."""
    if whole := _split(values, _places(len(values))):
        return whole
    lengths = range(max(2 * PART, len(values) - MOST_LEFT_OUT), len(values))
    places = _places(len(values)) + 2 * sum(map(_places, lengths))
    ends = [(start, values[start : start + length]) for length in lengths for start in (0, len(values) - length)]
    splits = [(start, len(part), split) for start, part in ends if (split := _split(part, places))]
    found = [replace(split, at=start + split.at) for start, length, split in splits if 2 * PART <= split.at <= length - 2 * PART]
    return min(found, key=lambda split: split.p_value, default=None)


def _places(length: int) -> int:
    """At which a series may be split."""
    return max(0, length - 2 * PART + 1)


def _split(values: Array, places: int) -> ChangePoint | None:
    """Into the two parts that are farthest apart, if that is sure although ``places`` were tried, and no less than two percent."""
    if not _places(len(values)):
        return None
    at = farthest(values)
    before, after = values[:at], values[at:]
    change, p = float(after.mean() - before.mean()), _p_value(before, after, places)
    return ChangePoint(at, math.exp(change), p) if p < P_VALUE and abs(change) >= LEAST else None


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
