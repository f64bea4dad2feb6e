from __future__ import annotations

from dataclasses import replace

import pytest

from backends.measured import CellRound, Conditions, Round, Trial
from backends.outcome import Outcome
from tests.store.building import a_run
from tuner.racing.sameness import changed_kernels, changed_limit, spaced_cells


def measured(index: int, *kernels: tuple[str, str, str], limit_w: float | None = None) -> Round:
    """``kernels``: (arm, cell, code)."""
    told = None if limit_w is None else Conditions(3, power_limit_w=(limit_w, limit_w))
    names = dict.fromkeys(cell for _, cell, _ in kernels) or {"decode": None}
    cells = (
        CellRound(name, (), (), (), True, code_ids=tuple((arm, code) for arm, cell, code in kernels if cell == name), conditions=told)
        for name in names
    )
    return Round(index, index, tuple(cells), ())


FIRST = measured(0, ("fa3", "a", "1111"), ("fa3", "b", "2222"), ("triton", "a", "3333"))


def test_the_same_kernels_under_the_same_names_may_stand_side_by_side() -> None:
    assert changed_kernels([], FIRST) is None
    assert changed_kernels([FIRST], measured(1, ("fa3", "a", "1111"), ("triton", "b", "9999"))) is None


def test_other_kernels_under_the_same_name_are_told_with_arm_and_cell() -> None:
    changed = measured(2, ("fa3", "a", "1111"), ("fa3", "b", "7777"))
    said = "fa3 ran other kernels on b than in the rounds before (code 7777; before 2222)"
    assert changed_kernels([FIRST, measured(1, ("triton", "a", "3333"))], changed) == said


def test_the_first_round_that_told_is_what_the_others_are_held_against() -> None:
    drifted = measured(1, ("fa3", "a", "4444"))
    assert "before 1111" in (changed_kernels([FIRST, drifted], drifted) or "")


@pytest.mark.parametrize(("now", "changed"), [(None, False), (700.0, False), (500.0, True)])
def test_a_power_limit_that_is_not_the_runs_own_is_told(now: float | None, changed: bool) -> None:
    run = a_run()
    assert run.environment.board.power_limit_w == 700.0
    said = changed_limit(run, measured(0, limit_w=now))
    assert (said is not None) is changed
    assert said is None or said.startswith(f"the power limit is 500 W now and was 700 W when run {run.id} began")


def test_a_board_that_told_no_limit_has_none_to_change() -> None:
    run = a_run()
    dumb = replace(run, environment=replace(run.environment, board=replace(run.environment.board, power_limit_w=None)))
    assert changed_limit(dumb, measured(0, limit_w=500.0)) is None


def test_cells_on_which_some_arm_overlaps_itself_are_spaced_for_all_and_stay_so() -> None:
    def trial(arm: str, cell: str, outcome: Outcome, *labels: str) -> Trial:
        return Trial(arm, cell, outcome, "broke", labels=labels)

    trials = [
        trial("fa3", "a", Outcome.CRASHED, "rotation not verifiable"),
        trial("flashinfer", "b", Outcome.CRASHED, "overlap-sensitive: with another kernel between, a call takes 1.050 of the time"),
        trial("flashinfer", "b", Outcome.CRASHED),
    ]
    assert spaced_cells(trials) == ("b",)
