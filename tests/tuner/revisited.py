"""Runs whose finalists were measured once more, for the tests of whatever reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.measured import CellRound, Visit
from store.revisit import Condition, Revisit
from store.runs.run import Run
from tests.tuner.building import DECODE

STREAM_BYTES = 386 << 20


def asking(run: Run, *conditions: Condition) -> Run:
    """With ``conditions`` asked for, by default all."""
    measure = replace(run.scenario.measure, sensitivity=conditions or tuple(Condition))
    return replace(run, scenario=replace(run.scenario, measure=measure))


def revisited(run: Run, times_us: Mapping[Condition, Mapping[str, float]], processes: int = 2, cell: str = DECODE) -> Run:
    """With ``times_us`` of the arms under each condition, each process 1 % slower than the one before."""
    return replace(asking(run), revisits=tuple(_revisit(index, times_us, cell) for index in range(processes)))


def _revisit(index: int, times_us: Mapping[Condition, Mapping[str, float]], cell: str) -> Revisit:
    slower = 1 + 0.01 * index
    under = tuple((condition, _cell_round(cell, condition, times, slower)) for condition, times in times_us.items())
    return Revisit(index, index, cell, STREAM_BYTES, under)


def _cell_round(cell: str, condition: Condition, times: Mapping[str, float], slower: float) -> CellRound:
    visits = tuple(Visit(0, position, arm, (us * slower,) * 8) for position, (arm, us) in enumerate(times.items()))
    return CellRound(f"{cell} ({condition.value})", tuple((arm, 36) for arm in times), visits, (), True)
