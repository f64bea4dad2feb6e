from __future__ import annotations

from pathlib import Path

import pytest

from reports.course_plot import colour, draw, label
from tests.tuner.past.made import points
from tests.tuner.past.test_course import DRIFT, course
from tuner.errors import UsageError
from tuner.past.asking import plot


def test_points_are_labelled_by_what_ran_and_coloured_by_their_verdict() -> None:
    steps = course(points(DRIFT)).steps
    assert label(steps[0]) == "flashinfer-python 0.6.1\n2026-01-01"
    assert (colour(steps[0]), colour(steps[-1])) == ("black", "tab:red")


def test_a_picture_is_asked_for_by_the_end_of_its_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"names no format; end it in \.svg, \.png, \.pdf"):
        plot([course(points(DRIFT))], tmp_path / "history.gif")


def test_without_matplotlib_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r'pip install "attnpin\[plot\]"'):
        plot([course(points(DRIFT))], tmp_path / "history.svg")
    assert not (tmp_path / "history.svg").exists()


def test_the_picture_is_the_same_each_time_and_names_the_versions() -> None:
    pytest.importorskip("matplotlib")
    courses = [course(points(DRIFT))]
    assert (first := draw(courses, "svg")) == draw(courses, "svg") and first.startswith(b"<?xml")
