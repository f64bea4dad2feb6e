"""How long a release is measured beside the good one: until its standing can be told, whatever else is still open."""

from __future__ import annotations

import math
import random

import pytest

from store.comparisons.side_by_side import SideBySide
from tests.tuner.bisecting.test_standing import ARM, CELL, FAULT, NEXT, OTHER
from tests.tuner.comparing.made import Times, compared
from tests.tuner.comparing.test_differences import GATE, RUN
from tuner.bisecting.standing import standing
from tuner.bisecting.trying import told_by
from tuner.comparing.sitting_out import needs_more


def enough(measured: SideBySide) -> bool:
    return told_by(lambda found: standing(found.verdict, FAULT))(measured, GATE)


def beside(change: float, restless: str) -> Times:
    """The arm at fault slower by ``change``; nobody can tell anything of the one that is restless."""

    draw = random.Random(1)

    def at(side: int, arm: str, cell: str, block: int, place: int) -> float:
        noise = draw.gauss(0, 0.5) if arm == restless else 0.0
        return 4.6 + side * math.log1p(change if arm == ARM and cell in (CELL, NEXT) else 0.0) + noise

    return at


@pytest.mark.parametrize(("change", "pairs"), [(0.5, 6), (0.0, 4)])
def test_a_release_that_is_surely_bad_or_surely_good_is_measured_no_further(change: float, pairs: int) -> None:
    measured = compared(RUN, pairs, beside(change, OTHER))
    assert needs_more(measured, GATE) and enough(measured)


@pytest.mark.parametrize("pairs", [0, 1, 3])
def test_before_the_first_look_it_is_never_enough(pairs: int) -> None:
    assert not enough(compared(RUN, pairs, beside(0.5, OTHER)))


def test_as_long_as_the_arm_at_fault_is_open_it_goes_on() -> None:
    assert not enough(compared(RUN, 6, beside(0.5, ARM)))
