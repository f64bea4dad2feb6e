from __future__ import annotations

from backends.condition import LeftLock
from tests.tuner.doctor.patients import found, only, patient


def test_a_lock_older_than_any_build_was_left_behind() -> None:
    finding = only(patient(locks=(LeftLock("/root/.cache/flashinfer/0.2.1/x/lock", 9000.0),)))
    assert finding.what == "/root/.cache/flashinfer/0.2.1/x/lock has been there for 2.5 hours, in a cache of compiled kernels"


def test_a_younger_lock_may_be_somebodys_build() -> None:
    assert found(patient(locks=(LeftLock("/x/lock", 599.0),))) == {}
