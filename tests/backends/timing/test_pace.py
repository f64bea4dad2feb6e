from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.spec import TimingSpec
from backends.timing.pace import LEAST_IN_ROWS, MOST_ROWS_US, ROWS, ROWS_US, VISIT_S, Pace, eager_pace, graph_pace, rotation, row_pace

TIMING = TimingSpec(blocks=4, replays=8, replay_ms=4.0, discard_ms=5.0, warmup_s=1.0, warmup_cap_s=10.0)


def test_a_replay_lasts_about_4_ms_of_whole_rotations() -> None:
    assert graph_pace(15.0, 44, TIMING) == Pace(launches=264, replays=8, discards=1)
    assert graph_pace(260.0, 4, TIMING) == Pace(launches=16, replays=8, discards=1)


def test_very_short_calls_stop_at_1024_launches_and_discard_more_replays() -> None:
    assert graph_pace(1.0, 46, TIMING) == Pace(launches=1012, replays=8, discards=5)


def test_a_sample_that_is_to_be_slowed_by_a_share_has_launches_enough_for_it() -> None:
    assert graph_pace(3_000.0, 4, TIMING, least=50).launches == 52
    assert eager_pace(3_000.0, TIMING, least=20).launches == 20


@pytest.mark.parametrize("call_us", [2_000.0, 19_000.0])
def test_calls_of_milliseconds_make_one_rotation_a_replay(call_us: float) -> None:
    assert graph_pace(call_us, 4, TIMING).launches == 4


def test_calls_above_20_ms_are_cold_by_their_own_size_and_sampled_three_times() -> None:
    assert graph_pace(25_000.0, 4, TIMING) == Pace(launches=1, replays=3, discards=1)
    assert eager_pace(120_000.0, TIMING) == Pace(launches=1, replays=3, discards=1)


def test_a_call_that_fills_the_visit_is_launched_once() -> None:
    assert eager_pace(400_000.0, TIMING) == Pace(launches=1, replays=1, discards=0)


def test_an_eager_sample_queues_no_more_calls_than_the_device_can_hold() -> None:
    assert eager_pace(5.0, TIMING).launches == 64


def test_a_sample_that_takes_longer_to_queue_than_to_run_is_short_and_little_is_discarded() -> None:
    assert eager_pace(20.0, TIMING, issue_us=100.0) == Pace(launches=40, replays=8, discards=1)


def test_rows_of_eager_calls_last_40_ms_in_all() -> None:
    assert row_pace(100.0) == Pace(launches=50, replays=8, discards=1)
    assert row_pace(600.0) == Pace(launches=8, replays=8, discards=1)


def test_a_call_that_fills_a_visit_is_a_row_by_itself() -> None:
    assert row_pace(30_000.0) == Pace(launches=1, replays=2, discards=1)
    assert row_pace(200_000.0) == Pace(launches=1, replays=1, discards=0)


@given(st.floats(0.5, 1e6), st.integers(1, 50))
def test_rows_are_many_and_long_unless_they_would_fill_a_visit(call_us: float, least: int) -> None:
    pace = row_pace(call_us, least)
    assert pace.launches >= 1 and pace.launches % least == 0 and 1 <= pace.replays <= ROWS
    calls = pace.launches * (pace.replays + pace.discards)
    assert calls * call_us <= MOST_ROWS_US or pace.replays == 1
    if least == 1 and 10.0 <= call_us <= MOST_ROWS_US / (LEAST_IN_ROWS * (ROWS + 1) / ROWS):
        assert pace.launches * pace.replays >= LEAST_IN_ROWS
        assert pace.launches * pace.replays * call_us >= 0.8 * min(ROWS_US, LEAST_IN_ROWS * call_us)


@given(st.floats(0.5, 1e6), st.integers(2, 60), st.integers(1, 20), st.booleans())
def test_a_visit_stays_within_half_a_second_wherever_a_sample_does(call_us: float, slots: int, replays: int, graph: bool) -> None:
    timing = replace(TIMING, replays=replays)
    pace = graph_pace(call_us, slots, timing) if graph else eager_pace(call_us, timing)
    sample_s = call_us * pace.launches * 1e-6
    assert pace.launches >= 1 and 1 <= pace.replays <= replays
    assert sample_s * (pace.replays + pace.discards) <= max(VISIT_S, sample_s) + 1e-9
    if graph and call_us <= 20_000:
        assert pace.launches % slots == 0


def test_a_graph_goes_round_the_slots_in_order_and_ends_on_the_last() -> None:
    assert rotation(6, 3) == [0, 1, 2, 0, 1, 2]
    assert rotation(1, 4) == [3]


@given(st.integers(1, 400), st.integers(1, 60))
def test_no_slot_comes_round_again_before_most_others_have(launches: int, slots: int) -> None:
    order = rotation(launches, slots)
    again = [order[start + 1 :].index(order[start]) + 1 for start in range(launches) if order[start] in order[start + 1 :]]
    rounds = -(-launches // slots)
    assert len(order) == launches and order[-1] == slots - 1 and set(order) == set(range(min(order), slots))
    assert min(again, default=launches) >= launches // rounds


def test_what_slows_a_graph_makes_its_rounds_a_little_shorter_and_adds_one() -> None:
    order = rotation(4 * 45 + 4, 45)  # 45 pools four times, and 2 % more
    assert [order.count(44), min(order)] == [5, 8]
