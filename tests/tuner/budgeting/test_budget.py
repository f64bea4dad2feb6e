from __future__ import annotations

from dataclasses import replace

import pytest

from backends.arm import Provider
from store.plan import Plan
from tests.asking import entries
from tests.tuner.building import arm
from tests.tuner.scenarios import scenario
from tuner.budgeting.budget import Budget, fewest_processes, in_order
from tuner.budgeting.prospect import fitting, prospect
from tuner.plan import plan_of
from tuner.settings import compose


class Clock:
    """Stands still but where a test moves it."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_budget_counts_from_its_construction_and_without_a_limit_never_ends() -> None:
    clock = Clock()
    limited, endless = Budget(900, clock), Budget(None, clock)
    clock.now_s = 600
    assert (limited.left_s, endless.left_s) == (300, float("inf"))


def test_what_was_seen_to_take_longest_is_expected_again() -> None:
    clock, case = Clock(), scenario()
    budget = Budget(900, clock)
    estimated = budget.round_s(case, [])
    for seconds in (70, 50):
        with budget.timed("round"):
            clock.now_s += seconds
    assert estimated != 70 and budget.round_s(case, []) == 70


def test_work_that_breaks_off_says_nothing_of_how_long_it_takes() -> None:
    clock, case = Clock(), scenario()
    budget = Budget(900, clock)
    estimated = budget.round_s(case, [])
    with pytest.raises(RuntimeError), budget.timed("round"):
        clock.now_s += 5
        raise RuntimeError
    assert budget.round_s(case, []) == estimated


@pytest.mark.parametrize(("asked", "fewest"), [(14, 4), (4, 4), (2, 2)])
def test_a_decision_rests_on_four_processes_or_on_all_that_were_asked_for(asked: int, fewest: int) -> None:
    assert fewest_processes(asked) == fewest


@pytest.mark.parametrize(
    ("budget_s", "fit"),
    [
        (1000, (3, 37)),
        (160, (3, 4)),  # 60 s of probes, 4 x 25 s
        (159, (2, 5)),  # the third arm gives way before processes go below the fewest
        (120, (2, 4)),
        (119, (0, 0)),  # the default alone is no contest
    ],
)
def test_processes_give_way_before_arms_and_the_fewest_before_nothing(budget_s: float, fit: tuple[int, int]) -> None:
    assert fitting(budget_s, [20, 20, 20], [15, 20, 25], contest=2, fewest=4) == fit


def test_the_default_is_measured_first_and_what_cannot_win_last() -> None:
    made = [arm("torch_native"), replace(arm("fa3"), provider=Provider.KERNEL), arm("triton"), arm("flashinfer"), arm("fa3")]
    named = [each.name for each in in_order(made, {"fa3/p1"}, eager={"torch_native"}, asked=())]
    assert named == ["fa3/p1", "triton/p1", "flashinfer/p1", "fa3/p1@kernel", "torch_native/p1"]
    asked = [each.name for each in in_order(made, {"fa3/p1"}, eager={"torch_native"}, asked=("flashinfer", "torch_native"))]
    assert asked[:3] == ["fa3/p1", "flashinfer/p1", "torch_native/p1"]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(scenario(), tuple(entries().values()))


def test_a_budget_that_suffices_and_one_that_reaches_less_are_told_apart_before_anything_runs(plan: Plan) -> None:
    assert prospect(plan, 1e6) == f"measure.budget_s=1000000 is expected to suffice for {len(plan.arms)} arms and 4 processes"
    said = next(said for budget_s in range(100, 2000, 20) if "expected to reach" in (said := prospect(plan, budget_s) or ""))
    assert f" of {len(plan.arms)} arms and 4 of 4 processes; not probed: " in said


def test_a_budget_that_is_too_small_names_one_that_is_not(plan: Plan) -> None:
    said = prospect(plan, 10) or ""
    assert said.startswith("measure.budget_s=10 is too small for a decision: the probes of the default and one rival and 4 processes take ")
    assert said.endswith("or run the same command in several windows: each goes on where the last one ended")
    enough = int(said.partition("give ")[2].partition(" or more")[0])
    assert "too small" in (prospect(plan, enough - 1) or "") and "too small" not in (prospect(plan, enough) or "")


def test_nothing_to_measure_needs_no_budget(plan: Plan) -> None:
    assert prospect(replace(plan, arms=()), 10) is None


def test_a_budget_is_no_part_of_the_question() -> None:
    bounded, endless = (compose(["backend=[torch_native]", f"measure.budget_s={budget_s}"]) for budget_s in ("900", "null"))
    assert (bounded.budget_s, endless.budget_s) == (900, None)
    assert bounded.scenario == endless.scenario
