"""What a comparison says of a release, on the arms and cells where the bad one is slower, and of nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.verdicts.bisection import Standing
from store.verdicts.comparison import CellVerdict, Label, Why
from store.verdicts.version_verdict import VersionVerdict
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import GATE, RUN
from tuner.bisecting.standing import Fault, cured, fault_of, fault_there, standing
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


@pytest.mark.parametrize(
    ("slower", "word"),
    [
        ({}, Standing.GOOD),
        ({(OTHER, CELL): 0.5}, Standing.CURED),
        ({(ARM, NEXT): 0.03}, Standing.CURED),
        ({(ARM, CELL): 0.15, (ARM, NEXT): 0.03}, Standing.CURED),
        ({(ARM, CELL): 0.35}, Standing.BAD),
        ({(ARM, NEXT): 0.07}, Standing.BAD),
        ({(ARM, CELL): 1.5**0.5 - 1}, Standing.OPEN),
    ],
)
def test_cured_is_what_is_nearer_to_the_good_release_on_every_row_of_the_fault(
    slower: dict[tuple[str, str], float], word: Standing
) -> None:
    assert cured(verdict(slower), FAULT, BAD)[0] is word


def test_only_what_the_first_bad_release_had_is_to_be_cured() -> None:
    first = verdict({(ARM, CELL): 0.5})
    fault = fault_there(first, FAULT)
    assert fault == Fault(((ARM, CELL),), ())
    assert cured(verdict({(ARM, NEXT): 0.5}), fault, first) == (Standing.CURED, None)


def changed(bad: float, half_width: float = 0.0) -> VersionVerdict:
    """As ``BAD``, with ln of the ratio on the first row of the fault, and how far its interval reaches either way."""
    rows = tuple(replace(row, verdict=_at(row.verdict, bad, half_width)) if (row.arm, row.cell) == (ARM, CELL) else row for row in BAD.rows)
    return replace(BAD, rows=rows)


def _at(found: CellVerdict, estimate: float, half_width: float) -> CellVerdict:
    numbers = replace(found.numbers, estimate=estimate, low=estimate - half_width, high=estimate + half_width)
    return replace(found, numbers=numbers)


@given(bad=st.floats(0.05, 3), left=st.floats(0.0, 3), half_width=st.floats(0.001, 0.5))
def test_what_regressed_is_cured_where_its_interval_lies_below_the_geometric_middle_and_bad_where_above(
    bad: float, left: float, half_width: float
) -> None:
    word, why = cured(changed(left, half_width), Fault(((ARM, CELL),), ()), changed(bad))
    below, above = left + half_width < bad / 2, left - half_width > bad / 2
    assert word is (Standing.CURED if below else Standing.BAD if above else Standing.OPEN) and (why is None) is (below or above)


def test_too_few_pairs_and_a_board_that_moved_cure_nothing() -> None:
    few = verdict({(ARM, CELL): 0.03}, rounds=4)
    assert cured(few, FAULT, BAD) == (Standing.OPEN, f"{ARM} on {CELL} is inconclusive: too few pairs")
    row = next(row for row in verdict({}).rows if (row.arm, row.cell) == (ARM, CELL))
    moved = replace(row, verdict=replace(row.verdict, label=Label.INCONCLUSIVE, why=Why.ENV_SHIFT))
    assert (
        cured(replace(few, rows=(moved, *(row for row in few.rows if (row.arm, row.cell) != (ARM, CELL)))), FAULT, BAD)[0] is Standing.OPEN
    )
