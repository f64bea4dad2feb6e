from __future__ import annotations

import random

import pytest

from tuner.verdicts.modes import two_modes

STATES = [0.0, 0.001, -0.001, 0.0005, 0.03, 0.0305, 0.029, 0.0295]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (STATES, True),
        ([value / 10 for value in STATES], False),  # the gap is below 1 %
        ([0.0, 0.001, -0.001, 0.0005, 0.0015, 0.03], False),  # one odd process
        ([0.01 * place for place in range(8)], False),  # spread out evenly
        ([0.0, 0.05], False),
        ([], False),
    ],
)
def test_two_states_are_two_groups_with_a_wide_gap_between(values: list[float], found: bool) -> None:
    assert two_modes(values) is found
    assert two_modes(random.Random(1).sample(values, len(values))) is found
