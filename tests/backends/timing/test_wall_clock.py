from __future__ import annotations

import time

import pytest
import torch

from backends.timing.sampled import Manner
from backends.timing.wall_clock import WallCall
from tests.backends.faulty import PlainCall
from tests.backends.small import QUICK, decode, laid_out


class Counting(PlainCall):
    """Takes a millisecond a launch and remembers the slots."""

    def __init__(self) -> None:
        super().__init__(laid_out(decode(8), slots=3))
        self.slots: list[int] = []

    def launch(self, slot: int) -> torch.Tensor:
        self.slots.append(slot)
        time.sleep(0.001)
        return self.data.q


def test_samples_are_wall_time_a_launch() -> None:
    timed = WallCall(Counting(), 3, QUICK)
    samples = timed.visit().us
    assert len(samples) == timed.pace.replays
    assert all(1000 <= sample < 20_000 for sample in samples)
    assert timed.served_us() == pytest.approx(sorted(samples)[len(samples) // 2], rel=0.5)


def test_launches_rotate_over_all_slots_from_sample_to_sample() -> None:
    call = Counting()
    timed = WallCall(call, 3, QUICK)
    call.slots.clear()
    timed.visit()
    assert len(set(call.slots)) == 3
    assert all((after - before) % 3 == 1 for before, after in zip(call.slots, call.slots[1:]))


def test_a_slowed_call_is_launched_more_often_than_it_is_counted() -> None:
    call = Counting()
    timed = WallCall(call, 3, QUICK, Manner(slowed=0.5))
    call.slots.clear()
    timed.visit()
    counted = (timed.pace.discards + timed.pace.replays) * timed.pace.launches
    assert timed.pace.launches >= 2 and len(call.slots) == 1.5 * counted


def test_a_shot_plans_first_and_runs_the_last_slot() -> None:
    call = Counting()
    timed = WallCall(call, 3, QUICK)
    timed.shot()
    assert call.slots[-1] == 2 and list(timed.written) == [2]
