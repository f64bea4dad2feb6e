"""Every measured number that a known issue tells of follows from evidence that is committed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.pages.figures import renewed
from tests.pages.sources import value
from tuner.unmeasured.regressions import Regression, load_regressions


def problems(entry: Regression) -> tuple[str, ...]:
    return renewed("\n".join((f"{entry.why}\n\n<!-- figures", *entry.figures, "-->")), value).problems


@pytest.mark.parametrize("entry", load_regressions(), ids=lambda entry: entry.name)
def test_a_known_issue_cites_its_figures(entry: Regression) -> None:
    assert problems(entry) == ()


def test_a_figure_that_is_another_one_by_now_or_cites_nothing_is_found() -> None:
    entry = next(entry for entry in load_regressions() if entry.figures)
    shown, citation = entry.figures[0].split(" ", 1)
    moved = replace(entry, why=entry.why.replace(shown, "999"), figures=(f"999 {citation}", *entry.figures[1:]))
    assert problems(moved) == (f"999 is {shown} by {citation}",)
    assert problems(replace(entry, figures=entry.figures[1:])) == (f"{shown} cites nothing",)
