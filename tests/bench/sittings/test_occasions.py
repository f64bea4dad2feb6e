"""Sittings of the same versions, which were put apart by just so much."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from backends.environment import Distribution
from store.verdicts.comparison import Label
from tests.bench.sittings.building import CELLS, anchors, made_up
from tests.bench.sittings.occasion_table import stored_path
from tests.bench.sittings.occasions import occasions
from tests.bench.sittings.ranking import fastest, repeats
from tests.bench.sittings.sitting import Sitting
from tests.bench.sittings.spread import between, upper
from tuner.verdicts.session import FEWEST, SAME_BOARD

TWO = ("fa3", "triton")


def sitting(number: int, shift: float = 1.0, **more: object) -> Sitting:
    return made_up(f"r{number}", seed=number, shift=shift, **{"slowed": (), **more})  # type: ignore[arg-type]


def test_every_sitting_meets_the_latest_on_its_board_and_the_latest_on_another() -> None:
    sittings = [sitting(1), sitting(2), sitting(3, board="GPU-1"), sitting(4)]
    met = [(pair.new.run, pair.old.run, pair.same_board) for pair in occasions(sittings[::-1])]
    assert met == [("r2", "r1", True), ("r3", "r2", False), ("r4", "r2", True), ("r4", "r3", False)]


def test_a_sitting_that_is_slow_as_a_whole_is_suspect_on_every_cell_and_falsely() -> None:
    (calm,), (slow,) = (occasions([sitting(1), sitting(2, shift)]) for shift in (1.0, 1.06))
    assert [verdict.label for verdict in slow.verdicts] == [Label.SUSPECT] * len(CELLS)
    assert not {Label.SUSPECT, Label.REGRESSED, Label.IMPROVED} & {verdict.label for verdict in calm.verdicts}
    assert "| 100 % |" in stored_path([slow]) and "| 0 % |" in stored_path([calm])


def test_what_a_sitting_adds_is_told_from_the_noise_inside() -> None:
    pairs = occasions([sitting(number, math.exp(0.01 * (-1) ** number)) for number in range(1, 9)])
    assert between(pairs, corrected=False) == pytest.approx(0.02 / math.sqrt(2), rel=0.02)
    assert len(pairs) >= FEWEST and upper(pairs, corrected=False).sigma > between(pairs, corrected=False)
    still = occasions([sitting(number) for number in range(1, 9)])
    assert between(still, corrected=False) < 0.001


def test_few_pairs_leave_what_is_assumed() -> None:
    assert upper(occasions([sitting(1), sitting(2, 1.05)]), corrected=False).sigma == SAME_BOARD


def test_what_the_anchor_shows_is_taken_off() -> None:
    sides = (sitting(1, anchors=(anchors(230.0),)), sitting(2, 1.02, anchors=(anchors(230.0 * 1.02),)))
    (pair,) = occasions(sides)
    assert pair.corrected_by == "anchors" and pair.plain == pytest.approx([math.log(1.02)] * 4, abs=0.001)
    assert pair.corrected == pytest.approx([0.0] * 4, abs=0.001)


def test_another_backend_that_moved_alike_is_the_control() -> None:
    pairs = occasions([sitting(1, backends=TWO), sitting(2, 1.02, backends=TWO)])
    assert {(pair.arm, pair.corrected_by) for pair in pairs} == {("fa3/p1", "controls"), ("triton/p1", "controls")}
    assert all(pair.corrected == pytest.approx([0.0] * 4, abs=0.002) for pair in pairs)


def test_other_versions_are_no_other_occasion() -> None:
    old, new = (
        replace(sitting(number), distributions=(Distribution("sglang-kernel", "1", digest),)) for number, digest in ((1, "x"), (2, "y"))
    )
    assert occasions([old, new]) == () and len(occasions([old, replace(new, distributions=old.distributions)])) == 1


def test_what_cannot_be_compared_is_counted_apart() -> None:
    (pair,) = occasions([sitting(1), replace(sitting(2, 1.06), protocol=99)])
    assert pair.incomparable and {verdict.label for verdict in pair.verdicts} == {Label.INCONCLUSIVE}
    assert f"| same board | {len(CELLS)} | 0 | 0 | 0 | 0 | 0 | {len(CELLS)} |" in stored_path([pair])


def test_a_ranking_is_repeated_where_the_best_are_the_same() -> None:
    slower = {("triton/p1", "a"): 1.03}
    first, again = sitting(1, backends=TWO, planted=slower), sitting(2, backends=TWO, planted=slower)
    turned = sitting(3, backends=TWO, planted={("fa3/p1", "a"): 1.03})
    assert fastest(first, "a") == {"fa3/p1"} and fastest(first, "b") == {"fa3/p1", "triton/p1"}
    assert [(each.cell, each.same, each.overlapping) for each in repeats([first, again])] == [(cell, True, True) for cell in CELLS]
    assert [each.overlapping for each in repeats([first, turned])] == [False, True, True, True]
    assert repeats([first, sitting(2, backends=TWO, board="GPU-1"), sitting(3)]) == ()
