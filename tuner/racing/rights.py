"""What may become of a pair by the cells it is slow on: no pick may lose too much on a guarded cell, and only who may be picked
clears the field of others."""

from __future__ import annotations

import math
from collections.abc import Collection
from statistics import fmean

from backends.cell import Phase
from store.decision import Pair
from tuner.arithmetic.objective import cell_error
from tuner.deciding.bars import guarded, loses_a_cell
from tuner.deciding.contest import Contest
from tuner.deciding.scores import cell_differences, cell_ratio
from tuner.racing.elimination import EARLY, mean_error, noise_margin


def may_be_picked(contest: Contest, pair: Pair, phase: Phase) -> bool:
    """Whether nothing that was measured in ``phase`` speaks against it; after few processes, whether no noise would change that."""
    processes = len(contest.table.processes)
    if processes > EARLY or processes in contest.looks:
        return loses_a_cell(contest, pair, (phase,)) is None
    return all(_surely_loses_little(contest, *seats) for seats in _opponents(contest, pair, (phase,)))


def _surely_loses_little(contest: Contest, arm: str, other: str, cell: str) -> bool:
    found = cell_differences(contest.table, arm, other, cell)
    if not found:
        return True
    processes = contest.table.processes
    error = mean_error([cell_error(process, arm, other, cell) for process in processes])
    margin = noise_margin(len(processes), contest.rules.sigma_floor, error)
    return fmean(found) <= math.log1p(contest.rules.max_cell_loss) - margin


def is_open(contest: Contest, pair: Pair) -> bool:
    """Whether more processes might let it be picked: it does not surely lose too much anywhere."""
    found = (cell_ratio(contest, arm, other, cell) for arm, other, cell in _opponents(contest, pair))
    return all(each is None or each.low <= 1 + contest.rules.max_cell_loss for each in found)


def _opponents(contest: Contest, pair: Pair, phases: Collection[Phase] = tuple(Phase)) -> list[tuple[str, str, str]]:
    """(its arm, the default's, cell) of every guarded cell of ``phases`` on which they differ."""
    default = contest.default or pair
    cells = [weighted.cell for weighted in guarded(contest.table) if weighted.cell.phase in phases]
    seats = [(pair.of(cell.phase), default.of(cell.phase), cell.name) for cell in cells]
    return [(arm, other, cell) for arm, other, cell in seats if arm != other]
