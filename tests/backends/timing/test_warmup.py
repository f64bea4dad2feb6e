from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from backends.spec import TimingSpec
from backends.timing import warmup
from tests.backends.small import QUICK


class Scripted:
    """An arm whose visits follow a script of microseconds."""

    def __init__(self, script: Iterator[float]) -> None:
        self._script = script
        self.visits = 0

    def visit(self) -> tuple[float, ...]:
        self.visits += 1
        time.sleep(0.002)
        return (next(self._script),)


@pytest.fixture(autouse=True)
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "WINDOW_S", 0.004)


def warm_up(arms: dict[str, Scripted], timing: TimingSpec, device_type: str) -> bool:
    return warmup.warm_up({name: arm.visit for name, arm in arms.items()}, timing, device_type)


def spec(warmup_s: float, cap_s: float) -> TimingSpec:
    return replace(QUICK, warmup_s=warmup_s, warmup_cap_s=cap_s)


def test_steady_arms_settle_after_the_minimum() -> None:
    arms = {"a": Scripted(itertools.repeat(10.0)), "b": Scripted(itertools.repeat(20.0))}
    started = time.monotonic()
    assert warm_up(arms, spec(0.05, 5.0), "cuda")
    assert 0.05 <= time.monotonic() - started < 2.0
    assert abs(arms["a"].visits - arms["b"].visits) <= 1


def test_an_arm_that_keeps_getting_slower_never_settles() -> None:
    drifting = Scripted(10.0 * 1.01**step for step in itertools.count())
    assert not warm_up({"a": drifting}, spec(0.0, 0.05), "cuda")


def test_a_cpu_is_allowed_three_percent() -> None:
    windows = itertools.cycle([10.0] * 2 + [10.2] * 2)
    assert warm_up({"a": Scripted(windows)}, spec(0.0, 0.0), "cpu")
    assert not warm_up({"a": Scripted(10.0 * 1.02**step for step in itertools.count())}, spec(0.0, 0.0), "cuda")


def test_every_arm_is_visited_in_every_window_however_slow_it_is() -> None:
    arms = {name: Scripted(itertools.repeat(10.0)) for name in "abcdef"}
    warm_up(arms, spec(0.0, 0.0), "cuda")
    assert {arm.visits for arm in arms.values()} == {2}
