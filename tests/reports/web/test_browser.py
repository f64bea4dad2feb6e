"""Pages as a browser shows them: Debian's Chromium, or Playwright's own, without a window. Starting it takes most of the time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reports.page import Table
from reports.web.check_page import check_page
from reports.web.comparison_page import comparison_page
from reports.web.html import render
from reports.web.list_page import list_page
from reports.web.page import Dress, WebPage
from reports.web.run_page import run_page
from tests.examples import comparisons, folders, stored
from tests.reports import building
from tests.reports.test_checked import FOUND
from tests.reports.web.hostile import renamed
from tests.reports.web.test_html import HOSTILE
from tuner.comparing.recorded import judged, recorded

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
MISSING = "no Chromium is here: make browser"
MARKS = "figures => figures.map(figure => figure.querySelectorAll('svg use, svg path').length)"
WIDTH = "document.documentElement.scrollWidth"


def example(name: str) -> WebPage:
    pin, run = stored(next(folder for folder in folders() if folder.name == name))
    return run_page(run, pin)


def upgrade() -> WebPage:
    measured = recorded(comparisons()[0])
    return comparison_page(measured, judged(measured))


PAGES = {
    "example": lambda: example("qwen3_8b-h200"),
    "comparison": upgrade,
    "hostile": lambda: run_page(renamed(building.run(building.decision()), building.DECODE, HOSTILE)),  # its flags are as ever
}
LONG = "pins/" + "-".join(["a-model-with-a-long-name"] * 5) + "/pin.yaml"
LIST = list_page(
    "Pins", "2 pins", (), Table(("pin", "answer", "exit"), ((LONG, "stale", "3"), ("b", "holds", "0"))), (Dress("bad", 0, "a.md"), Dress())
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Raises where CI has none; elsewhere tests are skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as tool:
        path = next(filter(None, map(shutil.which, BROWSERS)), tool.chromium.executable_path)
        if not Path(path).exists():
            assert not os.environ.get("CI"), MISSING
            pytest.skip(MISSING)
        chromium = tool.chromium.launch(executable_path=path, args=["--no-sandbox"])  # which root may not have
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    for name, page in {**PAGES, "list": lambda: LIST, "check": lambda: check_page(FOUND)}.items():
        (folder / f"{name}.html").write_text(render(page()))
    return {path.stem: path.as_uri() for path in folder.iterdir()}


class Opened:
    """A page, and whatever it said or asked for since."""

    def __init__(self, browser: Any, address: str, size: dict[str, int], **settings: Any) -> None:
        self.context = browser.new_context(viewport=size, **settings)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_nothing_asks_for_nothing_and_every_plot_has_marks(browser: Any, files: dict[str, str], name: str) -> None:
    opened = Opened(browser, files[name], DESK, color_scheme="dark")
    marks = opened.page.eval_on_selector_all("figure", MARKS)
    assert len(marks) >= 3 and min(marks) > 3
    assert opened.said == [] and opened.asked == [files[name]]
    opened.context.close()


def test_a_list_leads_to_its_pins_and_says_nothing_and_asks_for_nothing_either(browser: Any, files: dict[str, str]) -> None:
    opened = Opened(browser, files["list"], PHONE, color_scheme="dark")
    assert opened.page.get_by_role("link", name=LONG).get_attribute("href") == "a.md"
    assert opened.said == [] and opened.asked == [files["list"]]
    opened.context.close()


@pytest.mark.parametrize("name", [*PAGES, "list", "check"])
def test_a_phone_scrolls_one_way_alone_whatever_is_unfolded(browser: Any, files: dict[str, str], name: str) -> None:
    opened = Opened(browser, files[name], PHONE)
    opened.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert opened.page.evaluate(WIDTH) == PHONE["width"]
    opened.context.close()


@pytest.mark.parametrize("clipboard", [True, False])
def test_the_button_copies_the_flags_also_where_there_is_no_clipboard(browser: Any, files: dict[str, str], clipboard: bool) -> None:
    opened = Opened(browser, files["hostile"], DESK, permissions=["clipboard-read", "clipboard-write"])
    if not clipboard:
        opened.page.evaluate("Object.defineProperty(window, 'isSecureContext', {value: false})")
    opened.page.get_by_role("button", name="Copy: Flags").click()
    opened.page.wait_for_function("document.getElementById('told').textContent === 'Copied'")
    assert opened.page.evaluate("navigator.clipboard.readText()") == " ".join(
        f"--{name} {value}" for name, value in building.decision().flags
    )
    opened.context.close()


def test_a_keyboard_reaches_the_report_first_and_a_reader_hears_what_each_plot_shows(browser: Any, files: dict[str, str]) -> None:
    opened = Opened(browser, files["example"], DESK)
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the report"
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("document.activeElement.id") == "main"
    for landmark in ("main", "banner", "navigation", "contentinfo"):
        assert opened.page.get_by_role(landmark).count() == 1
    for plot in opened.page.get_by_role("img").all():
        assert "plot: " in plot.get_attribute("aria-label") or "bars: " in plot.get_attribute("aria-label")
    assert opened.page.get_by_role("img").count() == opened.page.get_by_role("figure").count() > 5
    opened.context.close()


def test_paper_has_everything_unfolded_and_no_buttons(browser: Any, files: dict[str, str]) -> None:
    opened = Opened(browser, files["example"], DESK)
    opened.page.emulate_media(media="print")
    last = opened.page.get_by_role("cell", name="conf/backend/fa4.yaml")  # deep in what was left out
    assert last.is_visible() and not opened.page.get_by_role("navigation").is_visible()
    assert opened.page.get_by_role("button").count() == 0
    opened.context.close()


CUT = """figures => figures.flatMap(figure => {
  const svg = figure.querySelector('svg'), box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')]
    .filter(text => text.getBoundingClientRect().left < box.left - 1 || text.getBoundingClientRect().right > box.right + 1)
    .map(text => text.textContent);
})"""


@pytest.mark.parametrize("name", ["example", "comparison"])
def test_no_word_of_a_plot_is_cut_at_its_edge(browser: Any, files: dict[str, str], name: str) -> None:
    opened = Opened(browser, files[name], DESK)
    assert opened.page.eval_on_selector_all("figure", CUT) == []
    opened.context.close()
