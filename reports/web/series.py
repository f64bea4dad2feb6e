"""Who is who in every plot of a page: an arm keeps its colour and its mark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reports.page import clean
from reports.web import ink
from reports.web.page import Key

GLYPHS = dict(zip(ink.MARKS, "●■◆▲▼✚✖★"))


@dataclass(frozen=True)
class Series:
    """``names`` in order. A ninth name has a colour of the first eight with another mark."""

    names: tuple[str, ...]

    def colour(self, name: str) -> str:
        return ink.colour(self.names.index(name))

    def mark(self, name: str) -> str:
        number = self.names.index(name)
        return ink.mark(number + number // len(ink.SERIES))

    def keys(self, shown: Iterable[str]) -> tuple[Key, ...]:
        """A legend of those in ``shown``."""
        there = set(shown)
        return tuple(
            Key(clean(name), number % len(ink.SERIES) + 1, GLYPHS[self.mark(name)])
            for number, name in enumerate(self.names)
            if name in there
        )
