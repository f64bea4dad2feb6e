"""What our calls foretell of the engine's steps, and how far that is from what it took.

    step = layers x attention + metadata + rest of the step                       (`tuner.step_model.step`)
    difference of two arms, in points = (attention + metadata of the other - of the one) / step of the one

Calls are those with a layer's weights streaming between two of them, where they were timed so, else those back to back: in a step the
next call finds its page table, its code and all else that is small gone from the cache.

The step that points are of is the engine's own, foretold or measured difference alike: its benchmark waits for the device after each step
and then prepares the next, which a server does meanwhile and no prediction has. Metadata counts whole for the same reason: it stands before
the step's kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median

from scipy.special import bdtr

from backends.cell import Phase
from backends.step.shape import RestTimes
from store.scenario import WeightedCell
from tests.bench.step.agenda import ENGINE, ROUND, STREAMED, TURNS
from tests.bench.step.cells import ARMS, REQUEST, Ground, ground_of
from tests.bench.step.rows import Row
from tuner.plan import plan_of
from tuner.settings import compose
from tuner.step_model.rates import rates
from tuner.step_model.step import Span, Surroundings, rest
from tuner.workload.ranks import ranks_of

POINTS, HALF_WIDTH, CONFIDENCE, MOST_RUNS = 2.0, 1.0, 0.95, 10
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
    """``other`` less ``one``, in points of the engine's step of ``one``: ``measured`` the median over ``runs``, ``half_width`` its, None
    of few; ``processes``: the median of each process alone; ``foretold`` by our calls, ``back_to_back`` by those without weights between
    them, and ``of_own_step``: as points of the step that we foretell, over the range of its rest."""

    cell: str
    one: str
    other: str
    measured: float
    half_width: float | None
    runs: int
    processes: tuple[float, ...]
    foretold: float
    back_to_back: float | None
    of_own_step: tuple[float, float]

    @property
    def apart(self) -> float:
        return abs(self.measured - self.foretold)

    @property
    def apart_of_own_step(self) -> float:
        """Points to the nearest end of the range."""
        low, high = self.of_own_step
        return max(low - self.measured, self.measured - high, 0.0)

    @property
    def verdict(self) -> str:
        if self.half_width is None or self.half_width > HALF_WIDTH:
            return MANY if self.runs >= MOST_RUNS else WIDE
        return HOLDS if self.apart <= POINTS else OFF


@cache
def ground() -> Ground:
    settings = compose([*REQUEST, BOARD])
    return ground_of(plan_of(settings.scenario, settings.entries, None))


def side(arm: str, phase: Phase) -> str:
    """The backend of ``arm`` in a phase."""
    prefill, _, decode = arm.partition("/")
    return (decode or prefill) if phase is Phase.DECODE else prefill


def predicted(rows: Sequence[Row], weighted: WeightedCell, arm: str, kind: str | None = None) -> Predicted | None:
    """By calls of processes of ``kind``, None = those of the engine's conditions that there are. None where no process timed its backend on
    the cell."""
    backend, kind = side(arm, weighted.cell.phase), kind or _kind(rows, weighted.cell.name)
    calls = [(row.kind, call) for row in rows for call in row.calls if (call.cell, call.backend) == (weighted.cell.name, backend)]
    us = [fmean(call.us) for of, call in calls if of == kind]
    metadata = [call.metadata_us for _, call in calls if call.metadata_us is not None]
    if not us:
        return None
    found = rest(weighted.cell, _around(tuple(each for row in rows for each in row.rests)))
    return Predicted(weighted.layers * fmean(us) * MS_PER_US, median(metadata) * MS_PER_US if metadata else None, found)


def _kind(rows: Iterable[Row], cell: str) -> str:
    return STREAMED if any(row.kind == STREAMED and call.cell == cell for row in rows for call in row.calls) else ROUND


def turns_ms(rows: Iterable[Row], weighted: WeightedCell, arm: str) -> dict[tuple[str, int], tuple[float, ...]]:
    """The engine's steps, arms in turns, one value a run: by sitting and number of the process."""
    return {
        (row.sitting, row.index): turns.ms
        for row in rows
        if row.kind == TURNS
        for turns in row.turns
        if (turns.cell, turns.arm) == (weighted.cell.name, arm)
    }


def alone_ms(rows: Iterable[Row], weighted: WeightedCell, arm: str) -> tuple[float, ...]:
    """The engine's steps where the arm had a process of its own, one value a process."""
    phase, _, size = weighted.cell.name.partition("-")
    found = (step for row in rows if row.kind == ENGINE and row.arm == arm for step in row.steps if step.cell == size)
    return tuple(step.decode_ms if phase == Phase.DECODE.value else step.prefill_ms for step in found)


def differences(rows: Sequence[Row], phase: Phase) -> Iterator[Difference]:
    """Of each arm from the first, on the steps of ``phase``."""
    one = ARMS[0]
    for weighted in ground().plan.cells:
        if weighted.cell.phase is phase:
            found = (_difference(rows, weighted, one, other) for other in ARMS[1:])
            yield from (each for each in found if each is not None)


def _difference(rows: Sequence[Row], weighted: WeightedCell, one: str, other: str) -> Difference | None:
    ours = predicted(rows, weighted, one), predicted(rows, weighted, other)
    first, second = turns_ms(rows, weighted, one), turns_ms(rows, weighted, other)
    by_process = [[100 * (slow / fast - 1) for fast, slow in zip(first[at], second[at])] for at in first.keys() & second.keys()]
    points = [each for process in by_process for each in process]
    base, rival = ours
    if base is None or rival is None or not points:
        return None
    more, step_ms = 100 * (rival.own_ms - base.own_ms), median([ms for process in first.values() for ms in process])
    ends = [more / (base.own_ms + other_ms) if other_ms is not None else 0.0 for other_ms in (base.rest_ms.low, base.rest_ms.high)]
    return Difference(
        *(weighted.cell.name, one, other, median(points), half_width(points), len(points)),
        processes=tuple(sorted(map(median, by_process))),
        foretold=more / step_ms,
        back_to_back=_back_to_back(rows, weighted, one, other, step_ms),
        of_own_step=(min(ends), max(ends)),
    )


def _back_to_back(rows: Sequence[Row], weighted: WeightedCell, one: str, other: str, step_ms: float) -> float | None:
    base, rival = (predicted(rows, weighted, arm, ROUND) for arm in (one, other))
    return None if base is None or rival is None else 100 * (rival.own_ms - base.own_ms) / step_ms


def half_width(values: Sequence[float]) -> float | None:
    """Of the median's interval from the order statistics, which asks nothing of how values scatter; interpolated between the two that hold
    more and less often than is wished (Hettmansperger and Sheather 1986). None of values too few for any: of 5."""
    ordered, count = sorted(values), len(values)
    held = [1 - 2 * float(bdtr(depth - 1, count, 0.5)) for depth in range(1, count // 2 + 1)]  # by [depth-th, depth-th from the end]
    wide = [depth for depth, chance in enumerate(held, 1) if chance >= CONFIDENCE]
    if not wide:
        return None
    depth = wide[-1]
    inner = held[depth] if depth < len(held) else 0.0
    part = (held[depth - 1] - CONFIDENCE) / (held[depth - 1] - inner)
    weight = (count - depth) * part / (depth + (count - 2 * depth) * part)
    outer_ends, inner_ends = (ordered[depth - 1], ordered[-depth]), (ordered[depth], ordered[-depth - 1])
    low, high = ((1 - weight) * outer + weight * inner for outer, inner in zip(outer_ends, inner_ends))
    return (high - low) / 2


def _around(rests: tuple[RestTimes, ...]) -> Surroundings:
    scenario = ground().plan.scenario
    return Surroundings(scenario.model, ranks_of(scenario.engine), "cuda", rates(scenario.gpu, ()), rests)
