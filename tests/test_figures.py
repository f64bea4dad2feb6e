from __future__ import annotations

import re

import pytest

pytest.importorskip("matplotlib")

from tests.figures import CELL, DOCS, PREDICTED_MS, courses, drawn, measured_ms
from tests.pages.sources import value


def test_a_prediction_lies_within_what_it_may_differ_by_of_every_start() -> None:
    allowed = value("engine-benchmark/may_differ")
    assert all(abs(found / value(PREDICTED_MS) - 1) < allowed for found in measured_ms().values())


def test_a_course_over_versions_has_both_sides_of_the_committed_upgrades() -> None:
    assert {course.cell for course in courses()} == {CELL}
    assert all(len({step.ran for step in course.steps}) == 3 for course in courses())


def test_every_figure_is_there_has_marks_and_stands_on_a_page() -> None:
    pages = "".join(page.read_text() for page in DOCS.glob("*.md"))
    for name, content in drawn():
        assert len(re.findall(rb"<use ", content)) > 3
        assert (DOCS / name).exists() and f"]({name})" in pages, f"{name}: make figures"
