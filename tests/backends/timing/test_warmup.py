from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backends.spec import TimingSpec
from backends.timing import warmup
from backends.timing.sampled import Sampled
from backends.timing.warmup import Window, moved, settled
from tests.backends.small import QUICK, decode, prefill


class Scripted:
    """An arm whose visits follow a script of microseconds, and one of SM clocks."""

    def __init__(self, script: Iterator[float], clocks: Iterator[float] | None = None) -> None:
        self._script = script
        self._clocks = clocks or itertools.repeat(None)
        self.visits = 0

    def visit(self) -> Sampled:
        self.visits += 1
        time.sleep(0.002)
        return Sampled((next(self._script),), sm_clock_mhz=next(self._clocks))


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


def test_a_clock_that_still_moves_keeps_a_board_unsettled_however_steady_its_times_are() -> None:
    def arm(step: float) -> dict[str, Scripted]:
        return {"a": Scripted(itertools.repeat(10.0), (1980 * step**count for count in itertools.count()))}

    assert not warm_up(arm(0.98), spec(0.0, 0.05), "cuda")
    assert warm_up(arm(0.9999), spec(0.0, 5.0), "cuda")


def test_a_clock_that_hunts_around_a_power_limit_does_not_keep_steady_times_from_counting() -> None:
    def arm(*mhz: float, us: Iterator[float] | None = None) -> dict[str, Scripted]:
        return {"a": Scripted(us or itertools.cycle([757.0, 757.0, 758.4, 758.4]), itertools.cycle(each for each in mhz for _ in range(2)))}

    assert warm_up(arm(1670.0, 1700.0, 1665.0, 1705.0), spec(0.0, 5.0), "cuda")
    growing = (757.0 * 1.006**count for count in itertools.count())
    assert not warm_up(arm(1670.0, 1700.0, 1665.0, 1705.0, us=growing), spec(0.0, 0.05), "cuda")


@pytest.mark.parametrize(
    ("before", "now", "holds"),
    [
        (Window({"a": [10.0]}, {"a": [1980.0]}), Window({"a": [10.04]}, {"a": [1970.0]}), True),
        (Window({"a": [10.0]}, {"a": [1980.0]}), Window({"a": [10.06]}, {"a": [1980.0]}), False),
        (Window({"a": [10.0]}, {"a": [1980.0]}), Window({"a": [10.0]}, {"a": [1950.0]}), False),
        (Window({"a": [10.0]}, {}), Window({"a": [10.0]}, {"a": [1950.0]}), True),
        (Window({"a": [10.0], "b": [5.0]}, {}), Window({"a": [10.0], "b": [5.1]}, {}), False),
    ],
)
def test_settled_means_every_time_and_every_clock_stayed(before: Window, now: Window, holds: bool) -> None:
    assert settled(before, now, 0.005) is holds


def test_what_no_visit_agrees_on_is_not_held_against_a_board() -> None:
    before, now = [832.8, 831.8, 913.0, 832.7, 897.0], [832.6, 832.2, 908.1, 897.3, 913.2]
    assert median(now) / median(before) - 1 > 0.05 and not moved(before, now, 0.005)
    assert moved([832.8, 831.8, 832.5, 832.7, 833.0], [each * 1.01 for each in (832.6, 832.2, 832.1, 832.3, 832.2)], 0.005)


@given(st.floats(0.006, 0.3), st.integers(1, 40), st.integers(0, 1), st.sampled_from([1, -1]))
def test_a_steady_trend_is_never_taken_for_scatter(step: float, visits: int, more: int, sign: int) -> None:
    """However many visits a window has; ``step`` from one window to the next, as a share."""
    values = [100.0 * (1 + sign * step * number / visits) for number in range(2 * visits + more)]
    assert moved(values[:visits], values[visits:], 0.005)


@given(st.lists(st.floats(-0.05, 0.05), min_size=20, max_size=20), st.floats(0.2, 5.0))
def test_times_in_other_units_settle_alike(off: list[float], unit: float) -> None:
    values = [100 * (1 + each) for each in off]
    there = [unit * each for each in values]
    assume(abs(abs(median(values[10:]) / median(values[:10]) - 1) - 0.005) > 1e-9)
    assert moved(values[:10], values[10:], 0.005) is moved(there[:10], there[10:], 0.005)


def test_a_window_goes_on_where_the_one_before_it_ended() -> None:
    """Else the last arms of a rotation would be visited less often; and no window waits for the end of one."""
    arms = {name: Scripted(itertools.repeat(10.0)) for name in "abcde"}
    warm_up(arms, spec(0.03, 5.0), "cuda")
    visits = [arm.visits for arm in arms.values()]
    assert max(visits) - min(visits) <= 1


def test_the_first_cell_that_computes_more_than_it_reads_warms_up_three_times_as_long() -> None:
    cells = [decode(64, name="a"), prefill((0, 4096), name="b"), prefill((0, 4096), name="c")]
    timings = warmup.for_process(spec(1.0, 2.0), cells, "cuda")
    assert {name: (each.warmup_s, each.warmup_cap_s) for name, each in timings.items()} == {
        "a": (1.0, 2.0),
        "b": (3.0, 3.0),
        "c": (1.0, 2.0),
    }
