"""What a check found of one pin, as a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib")

from reports.web.check_page import TONES, check_page
from reports.web.html import render
from reports.web.page import Tone
from store.verdicts.checked import Answer
from store.verdicts.verdict import Status, Verdict
from store.verdicts.version_verdict import VersionVerdict
from tests.reports.test_checked import FOUND, ROW, UPGRADE


def test_every_answer_has_a_tone_and_only_what_is_wrong_is_red() -> None:
    bad = {label for label, tone in TONES.items() if tone is Tone.BAD}
    assert bad == {Answer.REGRESSED.value, Answer.WRONG.value, Answer.REFUSED.value, Status.KNOWN_BAD.value}
    assert check_page(replace(FOUND, answer=Answer.STALE)).tone is Tone.OPEN


def test_a_measured_check_draws_today_against_the_pin_with_every_number_beside_it() -> None:
    page = check_page(FOUND)
    assert (page.tone, page.label, page.answer) == (Tone.BAD, "regressed", FOUND.sentence)
    (part,) = page.parts
    assert [plot.title for plot in part.plots] == ["Today against the pin"]
    assert [section.title for section in part.open_sections] == ["What changed", "Today against the pin", "Which code runs"]
    text = render(page)
    assert "2.014 (1.954 to 2.075)" in text and "switch to --decode-attention-backend triton" in text


def test_both_versions_in_one_sitting_are_a_plot_of_their_own() -> None:
    verdict = VersionVerdict(ROW.verdict.label, (ROW,), (), (), (), (), False, 4, (), 1)
    assert [plot.title for plot in check_page(replace(FOUND, confirmed=verdict)).parts[0].plots][1:] == ["Both versions in one sitting"]


def test_a_check_that_measured_nothing_shows_what_changed_and_what_to_type_next() -> None:
    page = check_page(Verdict(Status.CHANGED, (UPGRADE,), "flashinfer-python changed", 3, command="attnpin check --pin p.yaml"))
    commands, grounds = page.parts
    assert page.tone is Tone.OPEN and commands.copied[0].line == "attnpin check --pin p.yaml"
    assert [section.title for section in grounds.open_sections] == ["What changed"] and not grounds.plots


def test_a_pin_that_nothing_touched_is_a_short_page() -> None:
    page = check_page(Verdict(Status.UNCHANGED, (), "it holds", 0, pin="deploy/pin.yaml"))
    assert (page.tone, page.title, page.parts) == (Tone.GOOD, "deploy/pin.yaml", ())
