"""Others who come between two of our processes are borne as those who were there at the start."""

from __future__ import annotations

import pytest

from tuner.device.patience import Company
from tuner.errors import MeasurementInvalid

OTHERS = "40.0 GiB are taken"


def test_who_is_not_to_be_waited_for_ends_the_job_at_once() -> None:
    with pytest.raises(MeasurementInvalid) as refused:
        Company("NVIDIA H200").bear(OTHERS)
    wait = "wait until it is free (wait_for_gpu=2h does), or choose another GPU with CUDA_VISIBLE_DEVICES"
    assert str(refused.value) == f"NVIDIA H200 is used by others: {OTHERS}; {wait}"


def test_each_visit_of_others_has_the_whole_wait() -> None:
    clock = iter([0.0, 60.0, 5000.0, 5030.0, 9000.0])
    company = Company("NVIDIA H200", 3600.0, lambda: next(clock))
    assert company.bear(OTHERS) == "60 s of 1 h have passed"
    company.left()
    assert company.bear(OTHERS) == "30 s of 1 h have passed"
    with pytest.raises(
        MeasurementInvalid, match=f"^NVIDIA H200 is used by others: {OTHERS} still after 1 h; set wait_for_gpu=2h to wait longer"
    ):
        company.bear(OTHERS)
