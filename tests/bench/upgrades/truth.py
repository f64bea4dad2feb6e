"""What a long oracle says happened to an arm on a cell between two versions. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from statistics import fmean, stdev

import numpy as np

from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label
from tuner.arithmetic.statistics import quantile
from tuner.comparing.differences import Key, differences, pairs_of
from tuner.comparing.families import judged_keys

CONFIDENCE = 0.99
MARGIN = math.log(1.02)  # of the verdicts that are held against it
TO_BE_FOUND = math.log(1.05)


class Change(str, Enum):
    """What is true of an arm on a cell, as far as the oracle's interval tells."""

    SLOWER = "slower"
    FASTER = "faster"
    WITHIN = "within the margin"
    UNSURE = "across the margin"


@dataclass(frozen=True)
class Truth:
    """ln(new/old) over ``pairs`` pairs of processes, and its interval of `CONFIDENCE`. ``same_code``: the launches have one machine code
    on both sides, None = the driver does not tell."""

    estimate: float
    low: float
    high: float
    pairs: int
    same_code: bool | None

    @property
    def change(self) -> Change:
        if self.low > MARGIN:
            return Change.SLOWER
        if self.high < -MARGIN:
            return Change.FASTER
        return Change.WITHIN if self.low > -MARGIN and self.high < MARGIN else Change.UNSURE

    @property
    def must_be_found(self) -> bool:
        return self.change is Change.SLOWER and self.estimate >= TO_BE_FOUND


SAID = {Change.SLOWER: Label.REGRESSED, Change.FASTER: Label.IMPROVED, Change.WITHIN: Label.EQUIVALENT}


def truths(oracle: SideBySide) -> dict[Key, Truth]:
    """Of every arm and cell that the upgrade may have touched, over the pairs that timed it; it takes two."""
    keys, _ = judged_keys(oracle)
    columns = differences(pairs_of(oracle), keys).T
    values = {key: column[~np.isnan(column)].tolist() for key, column in zip(keys, columns)}
    return {key: _truth(its, _same_code(oracle, key)) for key, its in values.items() if len(its) > 1}


def _truth(values: list[float], same_code: bool | None) -> Truth:
    centre = fmean(values)
    half = quantile((1 + CONFIDENCE) / 2, len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Truth(centre, centre - half, centre + half, len(values), same_code)


def _same_code(oracle: SideBySide, key: Key) -> bool | None:
    codes = [
        {dict(cell.code_ids).get(key[0]) for measured in run.rounds for cell in measured.cells if cell.cell == key[1]}
        for run in (oracle.baseline, oracle.candidate)
    ]
    known = None not in codes[0] | codes[1]
    return codes[0] == codes[1] if known else None
