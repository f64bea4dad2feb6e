from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.timing.pace import Pace
from backends.timing.sampled import PLAIN, Manner


@given(st.integers(1, 1024), st.sampled_from((0.02, 0.05, 0.1, 0.5)))
def test_what_is_to_be_slowed_by_a_share_is_by_just_that_share(launches: int, share: float) -> None:
    manner = Manner(slowed=share)
    pace = manner.whole(Pace(launches, 8, 1))
    assert launches <= pace.launches < launches + manner.least
    assert manner.extra(pace.launches) / pace.launches == pytest.approx(share)


def test_what_is_not_slowed_is_launched_as_often_as_those_beside_it_need() -> None:
    assert PLAIN.whole(Pace(7, 8, 1)) == Pace(7, 8, 1) and (PLAIN.least, Manner(fewest=50).least) == (1, 50)
    assert Manner(slowed=0.1, fewest=50).least == 50 and Manner(slowed=0.02, fewest=20).least == 50
