"""What stands on a page before it has a dress: parts of sentences, lines to copy, plots and sections."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from reports.headline import Line
from reports.page import Section, Table


class Tone(str, Enum):
    """How the answer is coloured; it is said in words too."""

    GOOD = "good"
    PLAIN = "plain"
    OPEN = "open"
    BAD = "bad"


@dataclass(frozen=True)
class Copied:
    """A line that somebody will paste."""

    label: str
    line: str


@dataclass(frozen=True)
class Dress:
    """Of one row. ``kind`` is "", "bad" or "open"; the cell in column ``linked`` leads to ``link``, relative to the page."""

    kind: str = ""
    linked: int | None = None
    link: str = ""


@dataclass(frozen=True)
class Listing:
    """A table whose rows lead elsewhere: one dress a row."""

    table: Table
    dresses: tuple[Dress, ...]


@dataclass(frozen=True)
class Plot:
    """``svg``: markup of ours, made by `reports.web.ink.drawn`. ``table`` has the numbers behind the marks, for whoever cannot see them;
    None = the plot before it has the same."""

    title: str
    note: str
    svg: str
    table: Table | None = None


@dataclass(frozen=True)
class Key:
    """One entry of a legend: ``number`` is the place of its colour and its mark."""

    name: str
    number: int
    mark: str


@dataclass(frozen=True)
class Part:
    """A landmark of the page. ``open_sections`` are shown whole, ``folded`` behind their titles."""

    id: str
    title: str
    lead: tuple[str, ...] = ()
    copied: tuple[Copied, ...] = ()
    keys: tuple[Key, ...] = ()
    plots: tuple[Plot, ...] = ()
    open_sections: tuple[Section, ...] = ()
    folded: tuple[Section, ...] = ()
    listing: Listing | None = None

    @property
    def has_something(self) -> bool:
        return any((self.lead, self.copied, self.plots, self.listing, self.open_sections, self.folded))


@dataclass(frozen=True)
class WebPage:
    """``answer`` is the sentence that most readers came for, ``label`` its one word; ``facts`` the labelled sentences below it."""

    title: str
    subtitle: str
    tone: Tone
    label: str
    answer: str
    facts: tuple[Line, ...]
    parts: tuple[Part, ...]
    made: str
