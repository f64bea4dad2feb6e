from __future__ import annotations

import gc

from backends.timing.garbage import left_lying


def test_nothing_is_collected_meanwhile_and_afterwards_as_before() -> None:
    assert gc.isenabled()
    with left_lying():
        with left_lying():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
