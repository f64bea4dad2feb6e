"""Processes that start in one of two states: their rounds fall into two groups, and no mean says much of either."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

GAP = 0.01  # of ln time
TIMES_THE_USUAL = 4.0


def two_modes(values: Sequence[float]) -> bool:
    """Whether the largest gap between neighbouring values is over 1 % and over four times the median gap, with at least two values on
    either side: a single odd process is no state."""
    ordered = sorted(values)
    gaps = [after - before for before, after in pairwise(ordered)]
    inner = gaps[1:-1]
    return bool(inner) and max(inner) == max(gaps) and max(inner) > max(GAP, TIMES_THE_USUAL * median(gaps))
