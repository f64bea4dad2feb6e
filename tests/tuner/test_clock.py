from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tuner.clock import PhaseClock

PHASES = st.sampled_from(["import", "build", "warmup", "timing", None])
STEPS = st.lists(st.tuples(PHASES, st.floats(0, 1e4), st.booleans()))


class Time:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(STEPS)
def test_all_that_is_taken_adds_up_to_the_time_in_phases(steps: list[tuple[str | None, float, bool]]) -> None:
    time, taken, inside = Time(), [], 0.0
    clock = PhaseClock(time)
    for phase, seconds, take in steps:
        clock.enter(phase)
        time.now += seconds
        inside += seconds if phase else 0.0
        taken += clock.take() if take else ()
    taken += clock.take()
    assert math.isclose(sum(seconds for _, seconds in taken), inside, abs_tol=1e-6)
    assert all(seconds >= 0 for _, seconds in taken)


def test_each_phase_gets_what_was_spent_in_it_in_the_order_of_first_occurrence() -> None:
    time = Time()
    clock = PhaseClock(time)
    for phase, seconds in (("import", 2.0), ("timing", 3.0), (None, 7.0), ("import", 1.0), ("timing", 0.5)):
        clock.enter(phase)
        time.now += seconds
    assert clock.take() == (("import", 3.0), ("timing", 3.5))


def test_a_phase_that_goes_on_is_taken_in_parts() -> None:
    time = Time()
    clock = PhaseClock(time)
    clock.enter("waiting")
    time.now += 2.0
    assert clock.take() == (("waiting", 2.0),)
    time.now += 5.0
    assert clock.take() == (("waiting", 5.0),)
    clock.enter(None)
    time.now += 5.0
    assert clock.take() == (("waiting", 0.0),)


def test_before_the_first_phase_nothing_is_counted() -> None:
    time = Time()
    clock = PhaseClock(time)
    time.now += 5.0
    assert clock.take() == ()
