"""Who is beaten, at what error, and what a run says of those that left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Phase
from store.decision import Pair
from store.scenario import Objective
from tests.tuner.building import DECIDE, Recipe, arm, build, decode, one_cell_each, prefill
from tests.tuner.racing.playing import play, started
from tuner.decide import decide
from tuner.deciding.standing import standing_of
from tuner.racing.elimination import ALPHA, gross_margin, look_alpha
from tuner.racing.grounds import grounds, grounds_of, most_comparisons

FA3, FLASHINFER, TRITON = (Pair(name, name) for name in ("fa3/p1", "flashinfer/p1", "triton/p1"))
TIMES = {"fa3": (500.0, 100.0), "flashinfer": (510.0, 104.0), "triton": (900.0, 150.0)}


def test_arms_of_one_setting_are_compared_phase_by_phase() -> None:
    contest = standing_of(one_cell_each(TIMES)).contest
    both = grounds(contest, FA3, TRITON)
    assert [{weighted.cell.phase for weighted in ground} for ground in both] == [{Phase.DECODE}, {Phase.PREFILL}]
    assert grounds(contest, FA3, Pair("fa3/p1", "triton/p1")) == both[:1]


def test_arms_of_another_page_size_are_compared_as_pairs() -> None:
    arms = (arm("fa3"), arm("fa3", page_size=64))
    times = {(made.name, cell): 100.0 for made in arms for cell in ("decode_b64", "prefill_4k")}
    contest = standing_of(build(Recipe(arms, times))).contest
    paged = Pair("fa3/p64", "fa3/p64")
    assert grounds(contest, FA3, paged) == (contest.cells,)


def test_a_phase_that_does_not_count_is_no_ground() -> None:
    contest = standing_of(one_cell_each(TIMES, decide=replace(DECIDE, objective=Objective.TPOT))).contest
    assert grounds(contest, FA3, Pair("triton/p1", "fa3/p1")) == ()


@pytest.mark.parametrize(("arms", "comparisons"), [(2, 2), (3, 4), (5, 8)])
def test_the_error_is_shared_by_looks_and_by_arms_of_each_phase_not_by_pairs(arms: int, comparisons: int) -> None:
    run = one_cell_each({f"arm{number}": (500.0, 100.0) for number in range(arms)}, default=("arm0", "arm0"), asked=8)
    standing = standing_of(run)
    assert len(standing.ranked) == arms**2
    assert most_comparisons(grounds_of(standing.contest, standing.ranked)) == comparisons
    assert look_alpha(standing.contest, comparisons) == pytest.approx(ALPHA / 3 / comparisons)


def test_the_margin_of_the_first_processes_grows_with_the_noise_and_shrinks_with_their_number() -> None:
    assert gross_margin(1, 0.006) == pytest.approx(0.0488, abs=1e-4)  # ln 1.05
    assert gross_margin(1, 0.02) == pytest.approx(0.12)
    assert gross_margin(2, 0.006) == pytest.approx(6 * 0.006 / 2**0.5)
    assert gross_margin(3, 0.001) == pytest.approx(0.0247, abs=1e-4)  # ln 1.025


def test_a_pair_that_left_says_when_and_by_whom_it_was_beaten_and_keeps_its_numbers() -> None:
    run = play(started(TIMES))
    score = next(score for score in decide(run).scores if score.pair == TRITON)
    assert score.dropped and score.dropped.startswith("left the race after 1 process: in prefill triton/p1 takes 1.")
    assert score.objective_ms > 0 and score.ratio is None


def test_how_small_a_difference_a_run_would_find_is_not_judged_by_an_arm_that_left_after_two_processes() -> None:
    near = {"fa3": (500.0, 100.0), "flashinfer": (500.5, 100.1)}
    alone, beside = (decide(play(started(times))).minimum_detectable_effect for times in (near, near | {"triton": (520.0, 104.0)}))
    assert alone and beside and alone <= beside < 2 * alone


def test_an_arm_that_is_beaten_at_the_last_look_is_not_in_the_best_set_and_has_all_its_numbers() -> None:
    found = decide(one_cell_each(TIMES))
    assert found.best_set == (FA3,)
    assert all(score.dropped is None and (score.pair == FA3 or score.ratio) for score in found.scores)


def test_arms_that_noise_does_not_tell_apart_are_all_in_the_best_set() -> None:
    found = decide(one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (498.0, 99.6)}, process_sd=0.006))
    assert set(found.best_set) >= {FA3, FLASHINFER} and found.pick == FA3


def test_a_server_of_one_phase_races_arms_not_pairs() -> None:
    cells = (decode("a", tokens=0.5), decode("b", batch=16, tokens=0.5))
    times = {(f"arm{number}/p1", cell.cell.name): 100.0 + number for number in range(4) for cell in cells}
    standing = standing_of(build(Recipe(tuple(arm(f"arm{n}") for n in range(4)), times, cells, default=("arm0", "arm0"))))
    assert most_comparisons(grounds_of(standing.contest, standing.ranked)) == 3


def test_cells_of_several_kinds_in_one_phase_are_one_ground() -> None:
    cells = (decode("a", tokens=0.5), decode("b", batch=16, tokens=0.5), prefill())
    times = {(f"arm{number}/p1", cell.cell.name): 100.0 + number for number in range(2) for cell in cells}
    contest = standing_of(build(Recipe((arm("arm0"), arm("arm1")), times, cells, default=("arm0", "arm0")))).contest
    (ground,) = grounds(contest, Pair("arm0/p1", "arm0/p1"), Pair("arm0/p1", "arm1/p1"))
    assert [weighted.cell.name for weighted in ground] == ["a", "b"]
