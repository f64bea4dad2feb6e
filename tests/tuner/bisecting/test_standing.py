"""What a comparison says of a release, on the arms and cells where the bad one is slower, and of nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from store.bisection import Standing
from store.version_verdict import VersionVerdict
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import GATE, RUN
from tuner.bisecting.standing import Fault, fault_of, standing
from tuner.comparing.judge import judge

ARM, OTHER = (arm.name for arm in RUN.arms)
CELL, NEXT = (weighted.cell.name for weighted in RUN.cells)


def verdict(slower: Mapping[tuple[str, str], float], rounds: int = 9) -> VersionVerdict:
    """``slower``: arms and cells, by a fraction."""
    return judge(compared(RUN, rounds, lambda side, arm, cell, block, place: 4.6 + side * math.log1p(slower.get((arm, cell), 0.0))), GATE)


BAD = verdict({(ARM, CELL): 0.5, (ARM, NEXT): 0.1})
FAULT = fault_of(BAD)


def test_the_fault_is_where_it_is_slower_worst_first() -> None:
    assert fault_of(BAD) == Fault(((ARM, CELL), (ARM, NEXT)), ()) and standing(BAD, FAULT) == (Standing.BAD, None)


@pytest.mark.parametrize(
    ("slower", "word"),
    [
        ({(ARM, NEXT): 0.1}, Standing.BAD),
        ({(OTHER, CELL): 0.5}, Standing.GOOD),
        ({(ARM, CELL): -0.2}, Standing.GOOD),
        ({}, Standing.GOOD),
    ],
)
def test_only_what_the_bad_release_is_slower_on_counts(slower: dict[tuple[str, str], float], word: Standing) -> None:
    assert standing(verdict(slower), FAULT) == (word, None)


def test_a_row_that_is_open_leaves_it_open_and_one_that_is_not_there_skips_it() -> None:
    word, why = standing(verdict({(ARM, CELL): 0.5}, rounds=4), FAULT)
    assert word is Standing.OPEN and why == f"{ARM} on {CELL} is inconclusive: too few pairs"
    word, why = standing(judge(compared(RUN, 9, lambda *at: 4.6, [OTHER]), GATE), FAULT)
    assert word is Standing.SKIPPED and why == f"{ARM} on {CELL} was not measured on both sides"


def test_all_cells_together_are_the_fault_where_no_single_one_is() -> None:
    rows = tuple(row for row in BAD.rows if row.cell is None)
    (together,) = fault_of(VersionVerdict(**{**vars(BAD), "rows": rows})).slower
    assert together == (ARM, None)
