"""What is asked of a file, and what answers: edits of its text, what they change, and what stands against them."""

from __future__ import annotations

from dataclasses import dataclass

from reports.launchers.entries import Entry
from reports.merging.errors import Conflict
from reports.merging.text import Edit


@dataclass(frozen=True)
class Wanted:
    """The pin's side: its entries, the run they are of, and whether the user's own values give way."""

    entries: tuple[Entry, ...]
    run: str
    replace: bool


@dataclass(frozen=True)
class Change:
    """``before`` None = the key was not there, ``after`` None = it is taken out."""

    key: str
    before: str | None
    after: str | None


Step = Edit | Change | Conflict
