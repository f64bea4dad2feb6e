"""How the tests read a page: its tags, and the words that a reader sees."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from reports.web import ink
from reports.web.html import render
from reports.web.page import WebPage

UNSEEN = ("style", "script", "title", "svg")


class Reading(HTMLParser):
    """``tags``: name and attributes of each; ``words``: what stands between them, less styles, scripts and plots."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._within: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag in UNSEEN:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if self._within[-1:] == ["script"]:
            self.scripts.append(data)
        elif not self._within:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """Tags with the names of their attributes: what words must not change."""
        return [(tag, tuple(attributes)) for tag, attributes in self.tags]


def words(make: Callable[[], WebPage]) -> str:
    """What the page says, whose plots are not drawn: that takes nearly all of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ink, "drawn", lambda *_: "<svg></svg>")
        return Reading(render(make())).text
