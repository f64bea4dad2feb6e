"""What our calls foretell of the engine's steps, and how far that is from what it took.

    step = layers x attention + metadata + rest of the step                       (`tuner.step`)
    difference of two arms, in points = (attention + metadata of the other - of the one) / step of the one

Metadata counts whole: one-batch waits for the device after each step, so the host's part stands before the next one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median, stdev

from scipy.special import stdtrit

from backends.cell import Phase
from backends.step.shape import RestTimes
from store.scenario import WeightedCell
from tests.bench.step.agenda import ENGINE, ROUND, STARTS
from tests.bench.step.cells import ARMS, REQUEST, Ground, ground_of
from tests.bench.step.rows import Row
from tuner.plan import plan_of
from tuner.ranks import ranks_of
from tuner.rates import rates
from tuner.settings import compose
from tuner.step import Span, Surroundings, rest

POINTS, HALF_WIDTH, CONFIDENCE = 2.0, 1.0, 0.95
BOARD = "gpu=h200"  # whose sheet stands in where the rest of a step was not measured
MS_PER_US = 1 / 1000
HOLDS, OFF, WIDE, MANY = "holds", "off", "not sure", "not judged"


@dataclass(frozen=True)
class Predicted:
    """ms of one step; ``metadata_ms`` None = not timed, and taken for 0."""

    attention_ms: float
    metadata_ms: float | None
    rest_ms: Span

    @property
    def own_ms(self) -> float:
        """What another arm has not."""
        return self.attention_ms + (self.metadata_ms or 0.0)


@dataclass(frozen=True)
class Difference:
    """``other`` less ``one``, in points of a step of ``one``: ``measured`` the median over runs, ``half_width`` of its mean, None of a
    single run; ``low`` and ``high`` foretold, over the range of the rest."""

    cell: str
    one: str
    other: str
    measured: float
    half_width: float | None
    runs: int
    low: float
    high: float

    @property
    def apart(self) -> float:
        """Points between what was measured and the nearest that was foretold."""
        return max(self.low - self.measured, self.measured - self.high, 0.0)

    @property
    def verdict(self) -> str:
        if self.half_width is None or self.half_width > HALF_WIDTH:
            return MANY if self.runs >= STARTS else WIDE
        return HOLDS if self.apart <= POINTS else OFF


@cache
def ground() -> Ground:
    settings = compose([*REQUEST, BOARD])
    return ground_of(plan_of(settings.scenario, settings.entries, None))


def side(arm: str, phase: Phase) -> str:
    """The backend of ``arm`` in a phase."""
    prefill, _, decode = arm.partition("/")
    return (decode or prefill) if phase is Phase.DECODE else prefill


def predicted(rows: Sequence[Row], weighted: WeightedCell, arm: str) -> Predicted | None:
    """None where no process timed its backend on the cell."""
    backend = side(arm, weighted.cell.phase)
    calls = [(row.kind, call) for row in rows for call in row.calls if (call.cell, call.backend) == (weighted.cell.name, backend)]
    us = [fmean(call.us) for kind, call in calls if kind == ROUND] or [fmean(call.us) for _, call in calls]
    metadata = [call.metadata_us for _, call in calls if call.metadata_us is not None]
    if not us:
        return None
    found = rest(weighted.cell, _around(tuple(each for row in rows for each in row.rests)))
    return Predicted(weighted.layers * fmean(us) * MS_PER_US, median(metadata) * MS_PER_US if metadata else None, found)


def measured_ms(rows: Iterable[Row], weighted: WeightedCell, arm: str) -> dict[tuple[str, int], float]:
    """Of the engine, by sitting and number of the start."""
    phase, _, size = weighted.cell.name.partition("-")
    return {
        (row.sitting, row.index): step.decode_ms if phase == Phase.DECODE.value else step.prefill_ms
        for row in rows
        if row.kind == ENGINE and row.arm == arm
        for step in row.steps
        if step.cell == size
    }


def differences(rows: Sequence[Row]) -> Iterator[Difference]:
    """Of each arm from the first, on the decode steps."""
    one = ARMS[0]
    for weighted in ground().plan.cells:
        if weighted.cell.phase is Phase.DECODE:
            found = (_difference(rows, weighted, one, other) for other in ARMS[1:])
            yield from (each for each in found if each is not None)


def _difference(rows: Sequence[Row], weighted: WeightedCell, one: str, other: str) -> Difference | None:
    ours = predicted(rows, weighted, one), predicted(rows, weighted, other)
    first, second = measured_ms(rows, weighted, one), measured_ms(rows, weighted, other)
    points = [100 * (second[start] / first[start] - 1) for start in first.keys() & second.keys()]
    if None in ours or not points:
        return None
    base, rival = ours
    assert base is not None and rival is not None
    more = 100 * (rival.own_ms - base.own_ms)
    ends = [more / (base.own_ms + other_ms) if other_ms is not None else 0.0 for other_ms in (base.rest_ms.low, base.rest_ms.high)]
    return Difference(weighted.cell.name, one, other, median(points), _half_width(points), len(points), min(ends), max(ends))


def _half_width(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    return quantile * stdev(values) / math.sqrt(len(values))


def _around(rests: tuple[RestTimes, ...]) -> Surroundings:
    scenario = ground().plan.scenario
    return Surroundings(scenario.model, ranks_of(scenario.engine), "cuda", rates(scenario.gpu, ()), rests)
