"""What each fresh process said of an arm on a cell: the spread behind a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

from backends.measured import Round, Visit

Times = dict[tuple[str, str], tuple[float, ...]]


def times(rounds: Sequence[Round]) -> Times:
    """(arm, cell) -> us of one call as it is served, in each process: the geometric mean of its visits there."""
    found: dict[tuple[str, str], list[float]] = {}
    for measured in rounds:
        for cell in measured.cells:
            for arm in dict.fromkeys(visit.arm for visit in cell.visits):
                logs = [math.log(_served_us(visit)) for visit in cell.visits if visit.arm == arm]
                found.setdefault((arm, cell.cell), []).append(math.exp(fmean(logs)))
    return {key: tuple(values) for key, values in found.items()}


def _served_us(visit: Visit) -> float:
    """Early runs timed eager calls on the device alone."""
    return median(visit.sample_us) if visit.served_us is None else visit.served_us


def deviations(values: Sequence[float]) -> tuple[float, ...]:
    """Of each process from the geometric mean of all, as fractions."""
    mean = fmean(map(math.log, values))
    return tuple(math.expm1(math.log(value) - mean) for value in values)
