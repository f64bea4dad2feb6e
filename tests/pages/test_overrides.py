"""Hydra reads what the documentation tells to type: a value with `=` or `&` in a list needs quotes of its own inside those of the shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from tests.docs import DOCS
from tests.pages.commands import of_page

PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]
GOES_ON = re.compile(r"\\\n\s*")
QUOTED = re.compile(r"""`('[^`\n]+'|"[^`\n]+")`""")
OVERRIDE = re.compile(r"[a-z+~][\w./@]*=(?!=)")


def shown_in(page: Path) -> Iterator[str]:
    """In commands, and alone in code as a shell would be given them."""
    text = GOES_ON.sub(" ", page.read_text())
    words = [word for command in of_page(text) for word in command]
    yield from filter(OVERRIDE.match, (*words, *(word for code in QUOTED.findall(text) for word in shlex.split(code))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_override_of_the_page_can_be_read(page: Path) -> None:
    parser = OverridesParser.create()
    for override in shown_in(page):
        parser.parse_override(override)


def test_there_are_overrides_to_read() -> None:
    assert sum(1 for page in PAGES for _ in shown_in(page)) > 100
