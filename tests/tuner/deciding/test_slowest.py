"""A server of several ranks, measured on several boards: the slowest decides, and the bounds of what it decides by."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.decision import Ruling
from store.runs.run import Run
from store.scenario import Engine
from tests.tuner.building import DECODE, ENGINE, one_cell_each
from tuner.arithmetic.statistics import interval
from tuner.decide import decide
from tuner.deciding.slowest import InProcess, by_board, sample, slowest, slowest_ratio
from tuner.deciding.spread import components

FLOOR = 0.006
FOUR_RANKS = replace(ENGINE, tensor_parallel=4)
FEW = settings(max_examples=60, deadline=None)

processes = st.lists(
    st.builds(InProcess, st.sampled_from(["one", "other", "third"]), st.floats(-0.3, 0.3), st.floats(1.0, 6.0)), min_size=2, max_size=12
)


@FEW
@given(found=processes)
def test_what_the_server_feels_lies_between_the_differences_of_the_two_boards_that_it_may_wait_for(found: list[InProcess]) -> None:
    boards = by_board(found)
    felt = max(fmean(one.new for one in board) for board in boards.values()) - max(
        fmean(one.old for one in board) for board in boards.values()
    )
    low, high = (fmean(one.difference for one in boards[slowest(found, of_new=new)]) for new in (False, True))
    assert low - 1e-9 <= felt <= high + 1e-9
    if (ratio := slowest_ratio(found, (), 0.95, FLOOR)) is not None:
        assert ratio.low - 1e-9 <= ratio.estimate <= ratio.high + 1e-9 and ratio.estimate == pytest.approx(math.exp(felt))


@FEW
@given(found=processes)
def test_of_one_board_it_is_the_interval_of_its_processes(found: list[InProcess]) -> None:
    alone = [replace(each, board="one") for each in found]
    ratio, usual = slowest_ratio(alone, (), 0.95, FLOOR), interval([each.difference for each in found], 0.95, FLOOR)
    assert ratio is not None and usual is not None
    assert (ratio.low, ratio.high) == (usual.low, usual.high) and ratio.estimate == pytest.approx(usual.estimate)


def test_a_single_process_of_a_board_has_an_interval_by_the_scatter_of_the_others() -> None:
    race = [InProcess(board, d, 5.0) for board, d in (("one", -0.101), ("one", -0.099), ("other", -0.08), ("other", -0.078))]
    fresh = [InProcess("one", -0.1, 5.0), InProcess("other", -0.08, 5.1)]
    assert slowest_ratio(fresh, (), 0.95, FLOOR) is None
    found = slowest_ratio(fresh, race, 0.95, FLOOR)
    assert found is not None and found.low < found.estimate < found.high and found.estimate == pytest.approx(math.exp(-0.08))
    assert sample(fresh) == ([-0.08], [-0.1])


def test_intervals_hold_the_truth_as_often_as_they_say_and_the_noise_that_a_process_shares_does_not_widen_them() -> None:
    rng, held, width = random.Random(3), 0, list[float]()
    for _ in range(2000):
        found = []
        for board, level, d in (("one", 5.0, -0.10), ("other", 5.05, -0.08)):
            for _ in range(4):
                old = level + rng.gauss(0, 0.01)
                difference = d + rng.gauss(0, 0.004)
                found.append(InProcess(board, difference, old + difference))
        ratio = slowest_ratio(found, (), 0.95, 0.0)
        assert ratio is not None
        held += ratio.low <= math.exp(-0.08) <= ratio.high
        width.append(math.log(ratio.high / ratio.low))
    assert 0.935 <= held / 2000 <= 0.97 and fmean(width) < 0.012


@pytest.mark.parametrize(("boards", "process", "count"), [(0.02, 0.004, 4), (0.0, 0.006, 4)])
def test_the_components_are_found_again_in_what_was_drawn_from_them(boards: float, process: float, count: int) -> None:
    rng, found = random.Random(5), list[tuple[float, float | None]]()
    for _ in range(1500):
        levels = [rng.gauss(0, boards) for _ in range(4)]
        found.append(components([[level + rng.gauss(0, process) for _ in range(count)] for level in levels]))
    between, within = (math.sqrt(fmean((each[place] or 0.0) ** 2 for each in found)) for place in (0, 1))
    assert within == pytest.approx(process, rel=0.05)
    assert between == pytest.approx(boards, rel=0.1) if boards else between < process / 3


def test_of_one_value_each_nobody_can_tell_how_groups_scatter_inside() -> None:
    assert components([[0.0], [0.1]]) == (pytest.approx(0.1 / math.sqrt(2)), None)


def on_two_boards(engine: Engine = ENGINE, on_the_slow: float = 0.84) -> Run:
    """flashinfer decodes in 0.8 of fa3's time on one board, and in ``on_the_slow`` of it on a second, which is 5 % slower in all."""
    tables = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0)}, {"fa3": (525.0, 105.0), "flashinfer": (525.0, 105.0 * on_the_slow)}
    runs = [one_cell_each(times, processes=8, engine=engine) for times in tables]
    rounds = tuple(replace(runs[index % 2].rounds[index], board=f"GPU-{index % 2}") for index in range(8))
    return replace(runs[0], rounds=rounds)


def decode_ratio(run: Run) -> float:
    """As `decide` shows it."""
    (found,) = [each.ratio for each in decide(run).cells if each.cell == DECODE and each.arm == "flashinfer/p1"]
    assert found is not None
    return found.estimate


def test_one_rank_has_the_mean_of_the_boards_and_several_the_slowest() -> None:
    assert decode_ratio(on_two_boards()) == pytest.approx(math.sqrt(0.8 * 0.84), rel=0.003)
    assert decode_ratio(on_two_boards(FOUR_RANKS)) == pytest.approx(0.84, rel=0.003)


def test_what_the_slowest_board_does_not_gain_is_not_pinned_for_several_ranks() -> None:
    assert decide(on_two_boards(FOUR_RANKS)).ruling is Ruling.SWITCH
    assert decide(on_two_boards(FOUR_RANKS, on_the_slow=1.0)).ruling is Ruling.KEEP


def test_the_spread_over_boards_names_each_and_the_one_that_decides() -> None:
    spread, ranks = decide(on_two_boards()).spread, decide(on_two_boards(FOUR_RANKS)).spread
    assert spread is not None and ranks is not None
    assert [(each.board, each.processes) for each in spread.boards] == [("GPU-0", 4), ("GPU-1", 4)]
    assert (spread.decides, ranks.decides) == (None, "GPU-1")
    assert spread.between_processes is not None and spread.between_boards > 5 * spread.between_processes > 0


def test_one_board_has_no_spread_and_several_ranks_are_told_that_it_is_one() -> None:
    run = one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0)}, engine=FOUR_RANKS)
    run = replace(run, environment=replace(run.environment, board=replace(run.environment.board, uuid="GPU-0")))
    decision = decide(run)
    assert decision.spread is None and "seen on one board only, and 4 ranks wait for the slowest of theirs" in decision.cautions
    assert all(score.objective_ms > 0 for score in decision.scores)


def test_a_rival_that_is_ahead_on_the_slow_board_keeps_an_arm_from_leaving() -> None:
    """By the mean of the boards flashinfer is far behind; on the one that the ranks wait for it is ahead."""
    cells = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 130.0)}, {"fa3": (600.0, 140.0), "flashinfer": (600.0, 130.0)}
    runs = [one_cell_each(times, processes=4, engine=FOUR_RANKS, asked=8) for times in cells]
    rounds = tuple(replace(runs[index % 2].rounds[index], board=f"GPU-{index % 2}") for index in range(4))
    decision = decide(replace(runs[0], rounds=rounds))
    score = next(score for score in decision.scores if score.pair.decode == "flashinfer/p1" and score.pair.prefill == "fa3/p1")
    assert score.dropped is None and score.ratio is not None and score.ratio.estimate < 1
