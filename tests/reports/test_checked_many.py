from __future__ import annotations

import pytest

from reports.checked_many import counts
from store.verdicts.verdict import Status, Verdict


@pytest.mark.parametrize(("pins", "said"), [(1, "1 pin: 1 unchanged"), (2, "2 pins: 2 unchanged")])
def test_answers_are_counted_in_words_that_fit(pins: int, said: str) -> None:
    assert counts([Verdict(Status.UNCHANGED, (), "it holds", 0)] * pins) == said
