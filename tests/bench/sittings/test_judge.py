"""Counting on sittings whose truth is known, in both directions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.verdicts.comparison import Label
from tests.bench.sittings.building import CELLS, anchors, left_after, made_up, without
from tests.bench.sittings.claims import Evidence, claims
from tests.bench.sittings.judge import Findings, findings_of
from tests.bench.sittings.page import evidence_of
from tests.bench.sittings.sitting import Sitting
from tests.bench.sittings.sitting_table import misses
from tests.bench.statistics.row import Row

EQUAL, TWO, FIVE, TEN = "fa3/p1#2", "fa3/p1+0.02", "fa3/p1+0.05", "fa3/p1+0.1"


WHOLE = made_up()


def only(sitting: Sitting) -> Findings:
    (found,) = findings_of(sitting)
    return found


def said(sitting: Sitting) -> dict[float, list[Label | None]]:
    return {share: [cell.label for cell in cells] for share, cells in only(sitting).by_share.items()}


@cache
def evidence(*sittings: Sitting) -> Evidence:
    return evidence_of(sittings)


def counted(*sittings: Sitting) -> dict[tuple[str, str, str], Row]:
    return {(row.claim, row.what, row.case): row for row in claims(evidence(*sittings))}


def seen(claim: str, *sittings: Sitting) -> list[tuple[int, int]]:
    return [(row.seen, row.of) for row in counted(*sittings).values() if row.claim == claim and row.of]


def missed(*sittings: Sitting) -> list[tuple[str, float, str]]:
    return [(found.sitting.run, share, cell.cell) for found, share, cell in misses(evidence(*sittings).findings)]


def test_what_did_not_change_is_equivalent_and_what_was_slowed_is_found_and_sized() -> None:
    sitting, cells = made_up(), len(CELLS)
    assert said(sitting) == {
        0.0: [Label.EQUIVALENT] * cells,
        0.02: [Label.INCONCLUSIVE] * cells,
        0.05: [Label.REGRESSED] * cells,
        0.1: [Label.REGRESSED] * cells,
    }
    assert all(row.holds for row in counted(sitting).values() if row.of) and missed(sitting) == []
    assert seen("H5", sitting) == [(cells, cells)] * 3 and seen("H3", sitting) == [(cells, cells)] * 4


def test_a_slowdown_of_some_cells_is_judged_there_alone_and_beside_all_the_others() -> None:
    """The others are of its family: as many cells as in any comparison of the sitting share the error."""
    sitting = made_up(slowed_on=("b", "c"))
    found = only(sitting).by_share
    assert [len(found[share]) for share in (0.0, 0.02, 0.05, 0.1)] == [len(CELLS), 2, 2, 2]
    assert [cell.cell for cell in found[0.05]] == ["b", "c"] and {cell.label for cell in found[0.05]} == {Label.REGRESSED}
    assert seen("H1", sitting) == [(0, len(CELLS))] and seen("H3", sitting) == [(2, 2)] * 4 and missed(sitting) == []
    assert len({cell.verdict.numbers.alpha for cells in found.values() for cell in cells if cell.verdict}) == 1


def test_a_cell_that_was_to_be_slowed_and_was_not_timed_is_missed() -> None:
    sitting = without(made_up(slowed_on=("b", "c")), 0, FIVE, "c")
    assert seen("H3", sitting) == [(1, 2)] * 2 + [(2, 2)] * 2 and missed(sitting) == [("r1", 0.05, "c")]


def test_a_cell_that_left_with_its_verdict_keeps_it_and_one_that_left_without_is_missed() -> None:
    long = made_up(processes=9, slowed_on=("b",))
    sitting = left_after(long, 4, ("a", "c", "d"))
    assert said(sitting) == said(long) and seen("H2", sitting) == [(4, 4), (1, 1)] and seen("H8", sitting) == [(4, 4)]
    assert missed(left_after(long, 3, ("a",))) == [("r1", 0.0, "a")]


@pytest.mark.parametrize("factor", [1.05, 1 / 1.05])
def test_a_change_where_there_should_be_none_is_counted(factor: float) -> None:
    sitting = made_up("odd", planted={(EQUAL, "b"): factor})
    assert seen("H1", made_up(), sitting) == [(1, 2 * len(CELLS))]
    assert seen("H2", made_up(), sitting) == [(2 * len(CELLS) - 1, 2 * len(CELLS)), (1, 2)]
    assert ("odd", 0.0, "b") in missed(made_up(), sitting)


def test_a_slowdown_that_is_not_called_one_is_counted_as_missed() -> None:
    sitting = made_up(planted={(FIVE, "c"): 1 / 1.05})
    assert seen("H3", sitting) == [(len(CELLS) - 1, len(CELLS))] * 2 + [(len(CELLS), len(CELLS))] * 2
    assert missed(sitting) == [("r1", 0.05, "c")]


def test_a_slowdown_within_the_margin_that_is_called_one_is_counted() -> None:
    sitting = made_up(planted={(TWO, "a"): 1.04})
    assert seen("H4", sitting) == [(1, len(CELLS))] * 2 and ("r1", 0.02, "a") in missed(sitting)


def test_a_size_that_is_a_point_off_is_counted_though_the_slowdown_was_found() -> None:
    sitting = made_up(planted={(TEN, "d"): 1.01})
    assert seen("H3", sitting) == [(len(CELLS), len(CELLS))] * 4
    assert seen("H5", sitting)[2] == (len(CELLS) - 1, len(CELLS)) and missed(sitting) == [("r1", 0.1, "d")]


def test_a_cell_slowed_alone_has_to_be_surer_than_where_all_are() -> None:
    """Each that is called leaves more of the error to the next; alone there is no next."""
    cells = only(made_up(planted={(FIVE, cell): 0.9765 for cell in CELLS}, seed=2)).by_share[0.05]
    assert all(cell.label is Label.REGRESSED for cell in cells)
    assert [cell.alone for cell in cells].count(Label.REGRESSED) == 1


@settings(max_examples=12, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 3), st.sampled_from((EQUAL, TWO, FIVE, TEN, "fa3/p1")), st.sampled_from(CELLS)), max_size=5))
def test_no_cell_can_be_hidden(lost: set[tuple[int, str, str]]) -> None:
    """What a process did not time counts in every claim as what should not be."""
    whole, sitting = WHOLE, made_up("torn")
    for process, arm, cell in lost:
        sitting = without(sitting, process, arm, cell)
    cells = len(CELLS)
    assert {of for claim in ("H1", "H3", "H4", "H5") for _, of in seen(claim, whole, sitting)} == {2 * cells}
    gone = {cell for _, arm, cell in lost if arm in (EQUAL, "fa3/p1")}
    assert seen("H2", whole, sitting)[0] == (2 * cells - len(gone), 2 * cells)
    assert {("torn", 0.0, cell) for cell in gone} <= set(missed(whole, sitting))
    for share, copy in ((0.05, FIVE), (0.1, TEN)):
        torn = gone | {cell for _, arm, cell in lost if arm == copy}
        assert {cell for run, missing, cell in missed(sitting) if missing == share} == torn


def test_a_cell_whose_clock_did_not_settle_in_one_process_says_nothing() -> None:
    sitting = made_up()
    first = sitting.rounds[0]
    moving = replace(first, cells=tuple(replace(each, settled=each.cell != "b") for each in first.cells))
    unsettled = replace(sitting, rounds=(moving, *sitting.rounds[1:]))
    assert [labels[1] for labels in said(unsettled).values()] == [Label.INCONCLUSIVE] * 4
    assert only(unsettled).by_share[0.1][1].alone is Label.INCONCLUSIVE


def test_a_sitting_too_short_for_the_first_look_is_judged_by_nobody() -> None:
    short = made_up(processes=3)
    assert only(short).by_share == {} and all(row.of == 0 for row in counted(short).values())


def test_noise_and_the_known_duration_are_of_all_judged_sittings() -> None:
    sitting = made_up(anchors=(anchors(230.0), replace(anchors(230.0), spin_us=(101.0,) * 10)))
    assert seen("H6", sitting) == [(1, 2)] and seen("H8", sitting) == [(len(CELLS), len(CELLS))]
