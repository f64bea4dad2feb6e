from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.spec import TimingSpec
from backends.timing.pace import VISIT_S, Pace, eager_pace, graph_pace, rotation

TIMING = TimingSpec(
    blocks=4, replays=8, replay_ms=4.0, discard_ms=5.0, warmup_s=1.0, warmup_cap_s=10.0, build_limit_s=900.0, trial_limit_s=120.0
)


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
