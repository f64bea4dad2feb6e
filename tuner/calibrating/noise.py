"""From rounds in which every arm was measured twice under two names: how much its times vary by themselves. Pure.

y = ln(time) of a visit. Of an arm and its copy in one process d = mean(y) - mean(y of the copy), of one block of it likewise.
Source of what is computed: the measuring protocol, section 3.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, stdev

from backends.arm import Arm
from backends.measured import CellRound, Round
from store.boards.calibration import ArmNoise
from tuner.arithmetic.objective import served
from tuner.arithmetic.statistics import quantile, tied, visit_value
from tuner.verdicts.modes import two_modes

COPY = 2
MARGIN, EQUIVALENCE = 0.02, 0.95  # a comparison's margin and the confidence of either of its two tests
FLOOR = 0.99
COUNTED = 0.9  # of arms and cells, whose sigma_0 is at most the one to reckon with
FEWEST_BLOCKS = 3

Blocks = Mapping[int, Sequence[float]]  # y of an arm's visits, by block


def noise_of(arms: Iterable[Arm], rounds: Sequence[Round]) -> tuple[ArmNoise, ...]:
    """Every arm that was measured beside its copy in at least two processes, cell by cell."""
    cells = dict.fromkeys(cell.cell for measured in rounds for cell in measured.cells)
    found = (_of_arm(arm, cell, rounds) for arm in arms if arm.copy == COPY and not arm.slowed for cell in cells)
    return tuple(each for each in found if each is not None)


def sigma_0(noise: Iterable[ArmNoise]) -> float:
    """What nine of ten arms and cells stay below. Where graphs are replayed, of those: a floor is for all cells, and the host's noise,
    ten times the device's on an H200, would hide what decode shows (it still widens the intervals of its own cells)."""
    found = tuple(noise)
    replayed = [each for each in found if not each.with_host] or found
    ordered = sorted(each.sigma_process for each in replayed)
    return ordered[math.ceil(COUNTED * len(ordered)) - 1]


def _of_arm(copy: Arm, cell: str, rounds: Sequence[Round]) -> ArmNoise | None:
    original = copy.original_name
    seen = [each for measured in rounds for each in measured.cells if each.cell == cell]
    pairs = [(mine, theirs) for each in seen if (mine := _blocks(each, original)) and (theirs := _blocks(each, copy.name))]
    if len(pairs) < 2:
        return None
    by_block = [[fmean(mine[block]) - fmean(theirs[block]) for block in mine if block in theirs] for mine, theirs in pairs]
    d = [fmean(differences) for differences in by_block]
    return ArmNoise(
        arm=original,
        backend=copy.backend,
        cell=cell,
        processes=len(pairs),
        mean=fmean(d),
        sigma_visit=_pooled([_all(blocks) for pair in pairs for blocks in pair]),
        sigma_block=_pooled(by_block),
        sigma_process=stdev(d),
        lag1=lag1(by_block),
        two_mode=two_modes(d),
        floor=quantile((1 + FLOOR) / 2, len(d) - 1) * stdev(d) / math.sqrt(len(d)),
        equivalent=tied(d, MARGIN, EQUIVALENCE, 0.0),
        with_host=any(visit.served_us is not None for each in seen for visit in each.visits if visit.arm == original),
    )


def _blocks(cell: CellRound, arm: str) -> Blocks:
    found: dict[int, list[float]] = {}
    for visit in cell.visits:
        if visit.arm == arm:
            found.setdefault(visit.block, []).append(visit_value(served(visit)))
    return found


def _all(blocks: Blocks) -> list[float]:
    return [value for values in blocks.values() for value in values]


def _pooled(groups: Iterable[Sequence[float]]) -> float:
    """Standard deviation within groups, each about its own mean; 0 where no group has two."""
    several = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in several)
    squares = sum((value - fmean(group)) ** 2 for group in several for value in group)
    return math.sqrt(squares / freedom) if freedom else 0.0


def lag1(by_block: Iterable[Sequence[float]]) -> float | None:
    """Autocorrelation of neighbouring blocks' differences, over all processes; None where blocks are few or all alike."""
    long = [group for group in by_block if len(group) >= FEWEST_BLOCKS]
    centred = [[value - fmean(group) for value in group] for group in long]
    squares = sum(value**2 for group in centred for value in group)
    return sum(one * next_one for group in centred for one, next_one in pairwise(group)) / squares if squares else None
