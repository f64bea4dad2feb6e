from __future__ import annotations

import json

from reports.drift import render_json, render_markdown, render_text
from store.engines.drift import Drift, Said
from tests.asking import entries
from tuner.drift import drift_of

CELLS = (
    Drift("one", "page size of x", Said("any", "x.py, f"), docs=Said("128", "x.md, Pages")),
    Drift("two", "the | flag", Said("ignored", "y.py, g"), docstring=Said("used", "y.py, its help")),
)


def test_text_shows_each_source_s_word_in_its_column() -> None:
    lines = [line.split() for line in render_text(CELLS, "0.5.22").splitlines()]
    assert lines[0] == ["SGLang", "0.5.22:", "2", "cells", "in", "which", "documentation,", "docstrings", "and", "code", "differ"]
    assert ["page", "size", "of", "x", "128", "any"] in lines and ["the", "|", "flag", "used", "ignored"] in lines


def test_a_terminal_of_a_hundred_columns_holds_the_text() -> None:
    assert max(map(len, render_text(drift_of(entries().values(), "0.5.22"), "0.5.22").splitlines())) <= 100


def test_markdown_names_where_each_was_read() -> None:
    page = render_markdown(CELLS, "0.5.22")
    assert "| page size of x | 128 (x.md, Pages) |  | any (x.py, f) |" in page
    assert "| the \\| flag |  | used (y.py, its help) | ignored (y.py, g) |" in page


def test_data_holds_every_cell_whole() -> None:
    data = json.loads(render_json(CELLS, "0.5.22"))
    assert data["rules"] == "0.5.22"
    assert data["drift"][0] == {
        "name": "one", "cell": "page size of x", "rules": [], "docstring": None,
        "code": {"says": "any", "where": "x.py, f"}, "docs": {"says": "128", "where": "x.md, Pages"},
    }  # fmt: skip
