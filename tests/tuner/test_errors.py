from __future__ import annotations

import pytest

from tuner.errors import Incomplete, MeasurementInvalid, UsageError, WrongResults, worst


def test_every_error_carries_the_code_of_its_kind():
    assert [error.exit_code for error in (UsageError, Incomplete, MeasurementInvalid, WrongResults)] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("codes", "gravest"), [([], 0), ([0, 0], 0), ([3, 0, 1], 1), ([1, 4, 3], 4), ([4, 5], 5), ([5, 70, 4], 70), ([70, 130], 130)]
)
def test_the_gravest_code_of_several_jobs_is_the_answer(codes, gravest):
    assert worst(codes) == gravest
