from __future__ import annotations

import gc
import weakref

from backends.timing.garbage import left_lying, set_aside


def test_nothing_is_collected_meanwhile_and_afterwards_as_before() -> None:
    assert gc.isenabled()
    with left_lying():
        with left_lying():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


class Cycle:
    def __init__(self) -> None:
        self.me = self


def test_what_was_set_aside_is_not_looked_through_while_later_garbage_is_collected() -> None:
    kept = Cycle()
    early = weakref.ref(kept)
    try:
        set_aside()
        later = Cycle()
        late = weakref.ref(later)
        del kept, later
        gc.collect()
        assert gc.get_freeze_count() > 0 and early() is not None and late() is None
    finally:
        gc.unfreeze()
    gc.collect()
    assert early() is None
