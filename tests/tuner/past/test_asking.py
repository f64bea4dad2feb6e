"""Of what a history of committed comparisons is asked."""

from __future__ import annotations

from store.past.course import Course
from tests.examples import EXAMPLES
from tuner.past.asking import Asked, courses_in, in_files
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
