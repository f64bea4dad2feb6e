from __future__ import annotations

import pytest

from tuner.arithmetic.looks import RANKING, VERSIONS, looks_up_to


@pytest.mark.parametrize(
    ("most", "schedule", "looks"),
    [
        (4, RANKING, (4,)),
        (8, RANKING, (4, 6, 8)),
        (14, RANKING, (4, 6, 8, 14)),
        (2, RANKING, (2,)),
        (9, VERSIONS, (4, 6, 9)),
        (5, VERSIONS, (4, 5)),
    ],
)
def test_looks_are_fixed_beforehand_and_the_last_process_is_one(most: int, schedule: tuple[int, ...], looks: tuple[int, ...]) -> None:
    assert looks_up_to(most, schedule) == looks
