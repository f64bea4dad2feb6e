"""What an engine made of a command line, in its own words: from a process that only asks, over the worker's line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Raised:
    """An exception of the engine's own code. ``place`` is where it was raised ("handle_page_size of server_args.py")."""

    kind: str
    text: str
    place: str


@dataclass(frozen=True)
class EngineSays:
    """One of three. ``resolved``: the settings it would serve with, under the names of its ``asked`` folder; ``raised``: why it would
    not start; ``failure``: why it could not be asked, part of a sentence."""

    resolved: dict[str, Any] | None = None
    raised: Raised | None = None
    failure: str | None = None

    def __post_init__(self) -> None:
        if [self.resolved, self.raised, self.failure].count(None) != 2:
            raise ValueError("an engine resolved its arguments, or refused them, or could not be asked")
