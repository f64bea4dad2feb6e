"""Many pins or scenarios on one page."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.checked_many import render_html
from reports.page import Table
from reports.web.html import render
from reports.web.list_page import list_page
from reports.web.page import Dress, Tone
from store.verdicts.verdict import Status, Verdict
from tests.reports.web.reading import Reading

TABLE = Table(("pin", "answer"), (("a/pin.yaml", "unchanged"), ("b/pin.yaml", "stale")))


@pytest.mark.parametrize(
    ("kinds", "tone"), [(("", ""), Tone.GOOD), (("", "open"), Tone.OPEN), (("bad", ""), Tone.BAD), (("open", "bad"), Tone.BAD)]
)
def test_the_worst_row_colours_the_page(kinds: tuple[str, str], tone: Tone) -> None:
    assert list_page("Pins", "2 pins", (), TABLE, tuple(map(Dress, kinds))).tone is tone


def test_rows_say_how_they_came_out_and_lead_to_their_justification() -> None:
    found = Reading(render(list_page("Pins", "2 pins", (), TABLE, (Dress("bad", 0, "../a/pin.md"), Dress()))))
    rows = [attributes for tag, attributes in found.tags if tag == "tr"]
    assert [row.get("class") for row in rows] == [None, "bad", None]
    assert [attributes["href"] for tag, attributes in found.tags if tag == "a" and attributes["href"].endswith(".md")] == ["../a/pin.md"]


def test_the_answers_to_many_pins_need_no_plot_and_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    page = render_html([Verdict(Status.UNCHANGED, (), "it holds", 0, pin=Path("deploy/a/pin.yaml"))], Path("deploy"))
    assert 'href="a/pin.md"' in page and "1 pin: 1 unchanged" in page
