"""Whether the order of the finalists holds under conditions that a race leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from backends.measured import CellRound
from reports.sensitivity import sentence
from store.revisit import Condition, Revisit, Sensitivity
from store.runs.run import Run
from tuner.arithmetic.objective import served
from tuner.arithmetic.statistics import process_mean
from tuner.deciding.table import Table

Levels = Mapping[str, float]  # ln of an arm's time in us


def sensitivities(run: Run, table: Table, pick: str | None) -> tuple[Sensitivity, ...]:
    """One a condition that was tried. ``table`` is the race's, ``pick`` the decode arm that would be served."""
    tried = [revisit for revisit in run.revisits if revisit.failed is None]
    conditions = dict.fromkeys(condition for revisit in tried for condition, _ in revisit.under)
    found = (_sensitivity(condition, tried, table, pick, run.scenario.decide.tie_margin) for condition in conditions)
    return tuple(each for each in found if each is not None)


def turned_elsewhere(run: Run, found: Iterable[Sensitivity]) -> Iterator[str]:
    """A sentence for each order that does not hold, and for what could not be tried."""
    for each in found:
        if each.turned is not None:
            yield sentence(each)
    for revisit in run.revisits:
        if revisit.failed is not None:
            yield f"whether the ranking holds under other conditions could not be tried: {revisit.failed}"


def _sensitivity(condition: Condition, tried: list[Revisit], table: Table, pick: str | None, tie_margin: float) -> Sensitivity | None:
    processes = [(revisit, cell) for revisit in tried for under, cell in revisit.under if under is condition]
    first = processes[0][0]
    seen = [_levels(cell) for _, cell in processes]
    race = [{arm: ln_us for (arm, cell), ln_us in process.ln_us.items() if cell == first.cell} for process in table.processes]
    common = set().union(*seen) & set().union(*race)
    if len(common) < 2:
        return None
    base = pick if pick in common else min(common)
    there, usual = (_beside(base, levels, common) for levels in (seen, race))
    arms = sorted(there.keys() & usual.keys(), key=lambda arm: (arm != base, there[arm]))
    turned = _turned(arms, usual, there, math.log1p(tie_margin))
    times = tuple((arm, math.exp(usual[arm]), math.exp(there[arm])) for arm in arms)
    return Sensitivity(condition, first.cell, len(processes), first.stream_bytes, times, turned, turned is not None and turned[0] == pick)


def _levels(cell: CellRound) -> Levels:
    names = dict.fromkeys(visit.arm for visit in cell.visits)
    return {name: process_mean(served(visit) for visit in cell.visits if visit.arm == name) for name in names}


def _beside(base: str, processes: Sequence[Levels], arms: Iterable[str]) -> Levels:
    """Each arm as it stood beside ``base`` in the processes that timed both: what all arms of a process share cancels."""
    apart = {arm: [process[arm] - process[base] for process in processes if {arm, base} <= process.keys()] for arm in arms}
    level = fmean(process[base] for process in processes if base in process)
    return {arm: level + fmean(differences) for arm, differences in apart.items() if differences}


def _turned(arms: list[str], usual: Levels, there: Levels, margin: float) -> tuple[str, str] | None:
    """(arm, rival): the rival is ahead by more than ``margin`` there and not as usual, and the change is as large. The first arm's
    rivals come first, then the furthest ahead."""
    pairs = [(arm, rival) for arm in arms for rival in arms if _overtakes(usual[arm] - usual[rival], there[arm] - there[rival], margin)]
    return min(pairs, key=lambda pair: (pair[0] != arms[0], there[pair[1]] - there[pair[0]]), default=None)


def _overtakes(usual: float, there: float, margin: float) -> bool:
    """Both are how far ahead a rival is, as ln of a ratio."""
    return there > margin >= usual and there - usual > margin
