"""Of what a history of committed comparisons is asked."""

from __future__ import annotations

import re

import pytest

from store.past.course import Course
from tests.examples import EXAMPLES
from tuner.comparing.recorded import recorded
from tuner.errors import UsageError
from tuner.past.asking import Asked, Source, courses_in, in_files
from tuner.settings import compose

COMPARED = EXAMPLES / "upgrade" / "flashinfer-0.5.3-to-0.6.1-h200"
ARM, CELL = "flashinfer/p1,decode_backend=auto@kernel", "decode-64"


def course(*folders: str, over: str | None = None) -> Course:
    [found] = courses_in(in_files([COMPARED / folder for folder in folders]), compose(()), (), Asked((ARM,), CELL, over))
    return found


def test_a_comparison_that_is_named_twice_counts_once() -> None:
    once = course(".")
    assert len(once.steps) == 2 and course(".", "comparison.evidence.jsonl.zst") == once


def test_a_distribution_may_be_spelt_as_python_imports_it() -> None:
    assert course(".", over="FlashInfer_Python") == course(".", over="flashinfer-python")


def test_a_pin_s_own_run_is_the_baseline_though_it_is_in_none_of_the_comparisons() -> None:
    pinned = recorded(COMPARED).baseline
    (alone,) = courses_in(Source("run", lambda: ((), ()), lambda arm, cell: ()), compose(()), (), Asked((ARM,), CELL, None, pinned))
    assert [step.point.run for step in alone.steps] == [pinned.id]
    (beside,) = courses_in(in_files([COMPARED]), compose(()), (), Asked((ARM,), CELL, None, pinned))
    assert beside == course(".")


@pytest.mark.parametrize(("arm", "cell", "said"), [(ARM, "decode-7", "its cells are decode-"), ("fa9/p1", CELL, "it timed flashinfer/p1")])
def test_what_a_pin_s_run_did_not_time_is_named(arm: str, cell: str, said: str) -> None:
    pinned = recorded(COMPARED).baseline
    with pytest.raises(UsageError, match=f"did not time {re.escape(arm)} on {cell}; {said}"):
        courses_in(Source("run", lambda: ((), ()), lambda arm, cell: ()), compose(()), (), Asked((arm,), cell, None, pinned))
