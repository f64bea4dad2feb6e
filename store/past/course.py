"""How one arm's time on one cell went, from sitting to sitting: what was measured, and what it comes to against the first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from statistics import fmean

from backends.arm import Arm
from backends.environment import Environment
from store.verdicts.comparison import CellVerdict


@dataclass(frozen=True)
class Point:
    """One arm on one cell in one run, or on one side of a comparison. ``processes``: (round, mean ln us of a call as it is served) of
    each fresh process. ``cell_digest`` stands for the cell whatever it is called; ``capped``: the power cap set the clock."""

    run: str
    comparison: str | None
    created: str
    model: str
    traffic: str
    engine: str
    engine_version: str | None
    protocol: int
    profile: str
    environment: Environment
    arm: Arm
    cell_digest: str
    processes: tuple[tuple[int, float], ...]
    capped: bool

    @property
    def ln_us(self) -> float:
        return fmean(value for _, value in self.processes)

    @property
    def us(self) -> float:
        """Geometric mean over processes."""
        return math.exp(self.ln_us)


class How(str, Enum):
    """What a point was judged by."""

    FIRST = "the baseline"
    SIDE_BY_SIDE = "side by side"  # in one sitting with the baseline's own code
    STORED = "stored"  # against another sitting, which may differ by itself
    NOT = "not comparable"


@dataclass(frozen=True)
class Step:
    """``ran``: (name, version) of what sets the points of a course apart. ``ratio`` is to the first point, ``from_last`` to the one
    before; ``verdict`` against the first, None = the first itself, or not comparable, and then ``why_not`` says why."""

    point: Point
    ran: tuple[tuple[str, str], ...]
    ratio: float
    from_last: float | None
    how: How
    verdict: CellVerdict | None = None
    why_not: str | None = None


@dataclass(frozen=True)
class ChangePoint:
    """From ``at`` (an index of the steps) on, times are ``ratio`` of those before; ``p_value`` of that, all places it could be counted."""

    at: int
    ratio: float
    p_value: float


@dataclass(frozen=True)
class Course:
    """``steps`` in the order asked for, the first one the baseline; ``changes`` is None below the number of points they take."""

    arm: str
    cell: str
    steps: tuple[Step, ...]
    changes: tuple[ChangePoint, ...] | None
    notes: tuple[str, ...]
    exit_code: int
