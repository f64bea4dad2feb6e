from __future__ import annotations

import numpy as np
import pytest

from backends.cell import Phase
from tuner.traffic.groups import ENOUGH, gathered
from tuner.traffic.steps import Shape, Steps


def steps(batch: np.ndarray, context: np.ndarray, count: np.ndarray | None = None, phase: Phase = Phase.DECODE) -> Steps:
    keys = batch * context
    counts = np.ones(len(batch)) if count is None else count
    return Steps(phase, counts, batch, batch, keys, 1e-5 + 1e-9 * keys, batch, np.zeros(len(batch)), lambda index: Shape((), (), ()))


def spread(seed: int, octaves: float, size: int = 2000) -> Steps:
    rng = np.random.default_rng(seed)
    return steps(*(np.round(2 ** (5 + octaves * rng.uniform(-0.5, 0.5, size))) for _ in range(2)))


def test_equal_steps_are_one_group() -> None:
    found = gathered(steps(np.full(50, 16.0), np.full(50, 1000.0)), 12)
    assert len(found.middle) == 1 and found.covered == 1 and not len(found.outside)


def test_two_kinds_of_steps_far_apart_are_two_groups_and_each_has_its_own() -> None:
    found = gathered(steps(np.repeat([2.0, 64.0], 50), np.repeat([300.0, 4000.0], 50), np.repeat([4000.0, 10.0], 50)), 12)
    assert len(found.middle) == 2 and found.covered == 1
    assert {index // 50 for index in found.middle} == {0, 1}


@pytest.mark.parametrize("octaves", [1, 3, 5])
def test_as_few_groups_as_it_takes_reach_nearly_all_of_the_time(octaves: float) -> None:
    found = gathered(spread(1, octaves), 12)
    assert found.covered >= ENOUGH and len(found.middle) <= 12
    assert octaves > 1 or len(found.middle) <= 2


def test_too_few_groups_say_how_much_they_leave_out() -> None:
    found = gathered(spread(2, 9), 3)
    assert len(found.middle) == 3 and found.covered < ENOUGH
    far = spread(2, 9)
    seconds = far.count * far.attention_s
    assert np.isclose(1 - found.covered, seconds[found.outside].sum() / seconds.sum())


def test_the_same_steps_give_the_same_groups() -> None:
    one, two = (gathered(spread(3, 6), 8) for _ in range(2))
    assert one.middle == two.middle and (one.of == two.of).all()


def test_what_stands_for_a_group_takes_what_its_steps_take_on_average() -> None:
    found, all_steps = gathered(spread(4, 4), 12), spread(4, 4)
    for group, middle in enumerate(found.middle):
        mine = found.of == group
        assert abs(np.log(all_steps.attention_s[middle] / all_steps.attention_s[mine].mean())) < 0.25
