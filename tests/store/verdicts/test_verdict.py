from __future__ import annotations

from typing import Any

import pytest

from store.verdicts.verdict import Change, FlagsNow, Served, Status, Verdict


def test_a_change_needs_a_difference() -> None:
    with pytest.raises(ValueError, match="torch is '2.11' before and after"):
        Change("torch", "2.11", "2.11", ())


@pytest.mark.parametrize(("status", "changes"), [(Status.UNCHANGED, (Change("torch", "1", "2", ()),)), (Status.CHANGED, ())])
def test_a_status_that_contradicts_the_changes_is_refused(status: Status, changes: tuple[Change, ...]) -> None:
    with pytest.raises(ValueError, match="contradicts itself"):
        Verdict(status, changes, "sentence", 0)


@pytest.mark.parametrize("status", [Status.REFUSED, Status.KNOWN_BAD])
def test_what_is_there_now_may_be_bad_with_or_without_a_change(status: Status) -> None:
    for changes in ((), (Change("torch", "1", "2", ()),)):
        assert Verdict(status, changes, "s", 1).changes == changes


@pytest.mark.parametrize("said", [{}, {"now": Served("a", "b", 1, "c"), "refusal": "no"}, {"refusal": "no", "unknown": "why"}])
def test_flags_are_served_refused_or_unknown_and_nothing_between(said: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="served with something, or refused, or nobody can say"):
        FlagsNow("rules", Served("a", "b", 1, "c"), **said)
