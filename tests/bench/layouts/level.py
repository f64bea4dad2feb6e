"""The time of an arm on a cell, process by process, out of the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from backends.arm import Arm
from tests.bench.layouts.rows import Row
from tuner.arithmetic.objective import served
from tuner.arithmetic.statistics import process_mean


@dataclass(frozen=True)
class Place:
    geometry: str
    cell: str
    arm: Arm


@dataclass(frozen=True)
class Levels:
    """``ln_us``: of each process that timed it."""

    ln_us: Mapping[Place, Mapping[int, float]]

    def arms(self, geometry: str) -> tuple[Arm, ...]:
        """By page size, then by name."""
        mine = dict.fromkeys(place.arm for place in self.ln_us if place.geometry == geometry)
        return tuple(sorted(mine, key=lambda arm: (arm.page_size, arm.backend)))

    def us(self, place: Place) -> float | None:
        """Mean over processes."""
        found = self.ln_us.get(place)
        return math.exp(fmean(found.values())) if found else None

    def ratios(self, place: Place, base: Place) -> tuple[float, ...]:
        """``place`` against ``base``, one a process that timed both."""
        these, those = self.ln_us.get(place, {}), self.ln_us.get(base, {})
        return tuple(math.exp(these[process] - those[process]) for process in these if process in those)


def levels_of(rows: Sequence[Row]) -> Levels:
    found: dict[Place, dict[int, float]] = {}
    for row in rows:
        for arm in row.arms:
            visits = [served(visit) for visit in row.timed.visits if visit.arm == arm.name]
            if visits:
                found.setdefault(Place(row.geometry, row.cell.name, arm), {})[row.process] = process_mean(visits)
    return Levels(found)
