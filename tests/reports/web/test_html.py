from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

from reports.page import Command, Section, Table
from reports.web import ink
from reports.web.html import _source, render
from reports.web.page import Copied, Dress, Key, Listing, Part, Plot, Tone, WebPage
from reports.web.rows import Axis, Mark, svg, tick
from reports.web.run_page import run_page
from reports.web.series import Series
from tests.reports import building
from tests.reports.web.hostile import TEXTS, renamed
from tests.reports.web.reading import Reading

NAMES = ("qwen3_8b", "chat traffic", building.DECODE, "NVIDIA H200", "flashinfer", "0.5.16", "Hopper with")
HOSTILE = "</script></svg><img src=x onerror=alert(1)>\"'{{ 7 * 7 }}$x^2$\\1<!--"


def page(text: str) -> WebPage:
    """One of everything, and ``text`` in every place for words."""
    table = Table((text, text), ((text, text), (text, "")))
    section = Section(text, (text, table, Command(text)))
    plot = Plot(text, text, "<svg></svg>", table)
    listing = Listing(table, (Dress("bad", 0, text or "there"), Dress("open")))
    part = Part("part", text, (text,), (Copied(text, text),), (Key(text, 1, "●"),), (plot,), (section,), (section,), listing)
    return WebPage(text, text, Tone.GOOD, text, text, ((text, text),), (part,), text)


@given(TEXTS)
def test_no_words_change_the_tags_of_a_page(text: str) -> None:
    assert Reading(render(page(text))).shape == Reading(render(page("word" if text else ""))).shape


@settings(max_examples=15)
@given(TEXTS, TEXTS)
def test_no_words_change_the_tags_of_a_plot(row: str, name: str) -> None:
    drawn = svg("plot", name, [Mark(row, name, 1.0, 0.9, 1.1)], Axis(row), Series((name,)))
    tags = {tag for tag, _ in Reading(drawn).tags}
    assert tags <= {"svg", "defs", "g", "path", "use", "text", "clippath", "rect"} and "use" in tags
    assert not any(attribute.startswith("on") for _, attributes in Reading(drawn).tags for attribute in attributes)


@pytest.fixture(scope="module")
def made() -> str:
    return render(run_page(building.run(building.decision()), building.pin()))


def test_a_run_whose_names_are_markup_has_one_script_and_it_is_ours() -> None:
    run, pin = building.run(building.decision()), building.pin()
    for number, name in enumerate(NAMES):
        run, pin = (renamed(record, name, f"{number}{HOSTILE}") for record in (run, pin))
    reading = Reading(render(run_page(run, pin)))
    assert reading.scripts == [_source("page.js")]
    assert "img" not in {tag for tag, _ in reading.tags}
    assert not any(attribute.startswith("on") for _, attributes in reading.tags for attribute in attributes)


def test_a_page_asks_for_nothing_and_allows_nothing(made: str) -> None:
    reading = Reading(made)
    places = [
        value for _, attributes in reading.tags for name, value in attributes.items() if name in ("src", "href", "xlink:href", "action")
    ]
    assert places and all(place.startswith("#") or place == "data:," for place in places)
    (policy,) = (attributes["content"] for _, attributes in reading.tags if attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")


def test_no_identifier_stands_twice_and_every_reference_leads_to_one(made: str) -> None:
    reading = Reading(made)
    ids = [attributes["id"] for _, attributes in reading.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    referred = {*re.findall(r'href="#([^"]+)"', made), *re.findall(r"url\(#([^)]+)\)", made)}
    assert referred <= set(ids) and len(referred) > 20


def test_colours_are_the_pages_own_so_that_they_follow_its_scheme(made: str) -> None:
    drawn = "".join(re.findall(r"<svg.*?</svg>", made, re.DOTALL))
    assert not re.search(r"#[0-9a-f]{6}\b", drawn)
    style = _source("page.css")
    assert set(re.findall(r"var\((--[\w-]+)\)", drawn)) <= set(re.findall(r"(--[\w-]+):", style))


def test_every_colour_of_the_light_scheme_has_one_in_the_dark_and_one_on_paper() -> None:
    light, dark, paper = (
        set(re.findall(r"(--[\w-]+):", block)) for block in re.findall(r":root \{(.*?)\}", _source("page.css"), re.DOTALL)
    )
    assert light == dark == paper >= set(ink.NAMES.values())


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of "#rgb" or "#rrggbb"."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    dark, light = sorted(map(luminance, (one, two)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "paper"])
def test_words_and_marks_stand_out_from_what_is_behind_them(scheme: int) -> None:
    """WCAG 2.2: 4.5 to 1 for words, 3 to 1 for marks."""
    colours = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]+)", re.findall(r":root \{(.*?)\}", _source("page.css"), re.DOTALL)[scheme]))
    for words, behind in (
        ("ink", "paper"),
        ("muted", "paper"),
        ("muted", "page"),
        ("muted", "code"),
        ("accent", "paper"),
        ("accent", "page"),
    ):
        assert contrast(colours[f"--{words}"], colours[f"--{behind}"]) >= 4.5
    for tone in ("good", "bad", "open"):
        assert contrast(colours[f"--{tone}"], colours[f"--{tone}-soft"]) >= 4.5
    for number in range(1, len(ink.SERIES) + 1):
        assert contrast(colours[f"--series-{number}"], colours["--paper"]) >= 3


def test_the_same_marks_give_the_same_plot_and_a_page_has_a_few_hundred_kilobytes(made: str) -> None:
    first, second = (svg("plot", "Plot", [Mark("row", "arm", 1.0, 0.9, 1.1)], Axis("ratio"), Series(("arm",))) for _ in range(2))
    assert first == second and len(made) < 1_000_000


@given(st.integers(1, 20))
def test_no_two_of_many_series_look_alike(count: int) -> None:
    series = Series(tuple(map(str, range(count))))
    assert len({(series.colour(name), series.mark(name)) for name in series.names}) == count


def test_a_page_without_a_decision_has_its_sections_and_no_plot() -> None:
    text = render(run_page(replace(building.run(None, "running"), rounds=())))
    assert "<svg" not in text and "the run is unfinished" in text and "Backends left out before measuring" in text


@pytest.mark.parametrize(("value", "said"), [(0.5, "0.5"), (4000, "4000"), (30_000, "30k"), (1_000_000, "1M"), (2_500_000, "2.5M")])
def test_a_tick_is_short(value: float, said: str) -> None:
    assert tick(value) == said
