"""The truth as far as it is known: long interleaved rounds that no contestant's numbers enter."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from scipy.special import stdtrit

from tests.bench.peers.rows import Row, Timed

KIND = "oracle"
NEAR = math.log(1.10)  # who is further behind after the first process needs no more of them
FIRST, ENOUGH, HALF_WIDTH = 1, 4, 0.002
CONFIDENCE = 0.95

Process = Mapping[str, float]  # ln us by arm


@dataclass(frozen=True)
class Truth:
    """``behind``: of each arm, ln of its time over the best one's; 0 for the best. ``us`` of the best. ``half_width`` of the
    runner-up's distance, None where one process timed the two."""

    cell: str
    best: str
    us: float
    behind: Mapping[str, float]
    half_width: float | None
    processes: int

    @property
    def gap(self) -> float:
        """Of the runner-up, as a share of the best's time."""
        return min((math.expm1(value) for arm, value in self.behind.items() if arm != self.best), default=math.inf)

    def regret(self, pick: str) -> float:
        return math.expm1(self.behind[pick])


def processes_of(rows: Iterable[Row], kind: str) -> dict[str, list[Process]]:
    """By cell, the processes of a kind in their order."""
    found: dict[str, list[Process]] = {}
    for row in sorted((row for row in rows if row.kind == kind), key=lambda row: row.index):
        for cell in dict.fromkeys(timed.cell for timed in row.timed):
            found.setdefault(cell, []).append({timed.arm: _ln(timed) for timed in row.timed if timed.cell == cell})
    return found


def _ln(timed: Timed) -> float:
    """Of device time, which is what the peers look at too."""
    return fmean(map(math.log, timed.visit_us))


def truths(rows: Iterable[Row]) -> dict[str, Truth]:
    return {cell: truth_of(cell, processes) for cell, processes in processes_of(rows, KIND).items()}


def truth_of(cell: str, processes: Sequence[Process]) -> Truth:
    """Distances are means of what two arms differ by in the processes that timed both."""
    most = max(sum(arm in process for process in processes) for arm in processes[0])
    lasting = [arm for arm in processes[0] if sum(arm in process for process in processes) == most]
    best = min(lasting, key=lambda arm: fmean(process[arm] for process in processes if arm in process))
    differences = {arm: [process[arm] - process[best] for process in processes if arm in process] for arm in processes[0]}
    behind = {arm: fmean(found) for arm, found in differences.items()}
    second = min((arm for arm in behind if arm != best), key=lambda arm: behind[arm], default=None)
    width = half_width(differences[second]) if second else None
    return Truth(cell, best, math.exp(fmean(process[best] for process in processes)), behind, width, len(processes))


def half_width(differences: Sequence[float]) -> float | None:
    count = len(differences)
    if count < 2:
        return None
    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * stdev(differences) / math.sqrt(count)


def wanted(rows: Iterable[Row], cells: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The arms that another process should time, by cell; none of a cell that is known well enough."""
    found = {}
    for cell, truth in truths(rows).items():
        arms = tuple(arm for arm, behind in truth.behind.items() if behind <= NEAR)
        known = truth.processes >= ENOUGH and truth.half_width is not None and truth.half_width <= HALF_WIDTH
        if cell in cells and len(arms) > 1 and not known:
            found[cell] = arms
    return found


def usual_half_width(found: Iterable[Truth]) -> tuple[float, float] | None:
    """Median and largest over the cells whose runner-up is near."""
    widths = [truth.half_width for truth in found if truth.half_width is not None and truth.gap <= math.expm1(NEAR)]
    return (median(widths), max(widths)) if widths else None
