from __future__ import annotations

import math
from dataclasses import replace

import pytest

pytest.importorskip("matplotlib")

from reports import numbers, side_by_side
from reports.web.comparison_page import comparison_page
from reports.web.html import render
from reports.web.page import Tone
from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label, Why
from store.verdicts.version_verdict import VersionVerdict
from tests.examples import comparisons
from tests.reports.evidence import NUMBER, without_strings
from tests.reports.web.reading import words
from tuner.comparing.recorded import judged, recorded


@pytest.fixture(scope="module")
def upgrade() -> tuple[SideBySide, VersionVerdict]:
    return (measured := recorded(comparisons()[0])), judged(measured)


def test_every_number_is_one_that_the_comparison_in_words_has(upgrade: tuple[SideBySide, VersionVerdict]) -> None:
    measured, verdict = upgrade
    run = measured.baseline
    strings = (measured.id, measured.created, measured.command, run.tool_version, run.default.rules_version)
    text = without_strings(words(lambda: comparison_page(measured, verdict)), strings)
    assert set(NUMBER.findall(text)) - set(NUMBER.findall(side_by_side.render_text(measured, verdict))) <= {"1"}


def test_the_page_says_all_that_the_words_say(upgrade: tuple[SideBySide, VersionVerdict]) -> None:
    text = words(lambda: comparison_page(*upgrade))
    for line in side_by_side.render_text(*upgrade).splitlines()[:1]:
        assert line.partition(": ")[2] in text
    for section in side_by_side.sections(*upgrade):
        assert section.title in text


@pytest.mark.parametrize("label", Label)
def test_a_verdict_is_coloured_and_said(upgrade: tuple[SideBySide, VersionVerdict], label: Label) -> None:
    measured, verdict = upgrade
    why = Why.NOISE if label is Label.INCONCLUSIVE else None
    row = replace(verdict.rows[0], verdict=replace(verdict.rows[0].verdict, label=label, why=why))
    page = comparison_page(measured, replace(verdict, label=label, rows=(row,), dispatches=(), issues=(), broken=()))
    tones = {Label.REGRESSED: Tone.BAD, Label.IMPROVED: Tone.GOOD, Label.EQUIVALENT: Tone.PLAIN}
    assert (page.label, page.tone) == (label.value, tones.get(label, Tone.OPEN))


def test_where_nothing_was_timed_on_both_sides_nothing_is_drawn(upgrade: tuple[SideBySide, VersionVerdict]) -> None:
    measured, verdict = upgrade
    page = comparison_page(measured, replace(verdict, rows=(), label=Label.INCONCLUSIVE, dispatches=(), issues=()))
    assert "<svg" not in render(page) and "none was taken on both sides" in render(page)


def test_the_table_of_a_plot_has_a_row_for_each_mark(upgrade: tuple[SideBySide, VersionVerdict]) -> None:
    measured, verdict = upgrade
    plot = next(part for part in comparison_page(measured, verdict).parts if part.id == "ratios").plots[0]
    assert plot.table is not None and len(plot.table.rows) == len(verdict.rows)
    for row, shown in zip(verdict.rows, plot.table.rows):
        assert shown[2].startswith(f"{numbers.ratio(math.exp(row.verdict.numbers.estimate))} (")
