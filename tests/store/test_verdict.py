from __future__ import annotations

import pytest

from store.verdict import Change, Status, Verdict


def test_a_change_needs_a_difference() -> None:
    with pytest.raises(ValueError, match="torch is '2.11' before and after"):
        Change("torch", "2.11", "2.11", ())


@pytest.mark.parametrize(("status", "changes"), [(Status.UNCHANGED, (Change("torch", "1", "2", ()),)), (Status.CHANGED, ())])
def test_a_status_that_contradicts_the_changes_is_refused(status: Status, changes: tuple[Change, ...]) -> None:
    with pytest.raises(ValueError, match="contradicts itself"):
        Verdict(status, changes, "sentence", 0)
