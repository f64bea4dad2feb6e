from __future__ import annotations

import time

import pytest

from backends.timing import metadata
from tests.backends.faulty import PlainCall
from tests.backends.small import bench, decode, laid_out


class Planning(PlainCall):
    def __init__(self, seconds: float) -> None:
        super().__init__(laid_out(decode(8)))
        self.plans = 0
        self._seconds = seconds

    def plan(self) -> None:
        self.plans += 1
        time.sleep(self._seconds)


def test_the_cost_is_the_median_of_twenty_plans_after_a_first() -> None:
    call = Planning(0.001)
    host_us, idle_us = metadata.metadata_us(call, bench())
    assert 1000 <= host_us <= idle_us < 20_000
    assert call.plans == 1 + metadata.LOOKS


def test_slow_planners_are_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "LIMIT_S", 0.01)
    call = Planning(0.02)
    metadata.metadata_us(call, bench())
    assert call.plans == 1 + metadata.MIN_LOOKS
