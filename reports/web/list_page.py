"""Many pins or scenarios on one page, a row each, which leads to its justification."""

from __future__ import annotations

from reports.headline import Line
from reports.page import Table
from reports.web.page import Dress, Listing, Part, Tone, WebPage

GOOD, BAD, OPEN = "nothing to do", "to be looked at", "not finished"


def list_page(title: str, counts: str, facts: tuple[Line, ...], table: Table, dresses: tuple[Dress, ...]) -> WebPage:
    """``counts``: how many came out how, in a sentence."""
    kinds = {dress.kind for dress in dresses}
    tone, label = (Tone.BAD, BAD) if "bad" in kinds else (Tone.OPEN, OPEN) if "open" in kinds else (Tone.GOOD, GOOD)
    part = Part("rows", title, listing=Listing(table, dresses))
    return WebPage(title, "", tone, label, counts, facts, (part,), "attnpin")
