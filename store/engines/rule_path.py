"""How an engine came to what it serves with: the rules that held, and the tree it asks where nothing else decides."""

from __future__ import annotations

from dataclasses import dataclass

from store.engines.recorded_reason import ReasonHere


@dataclass(frozen=True)
class RuleStep:
    """A rule of the engine that held and changed something (or refused): when, what it did, why, and where it is written. ``recorded``: a
    reason its authors wrote down for this compute capability, where that can be measured again."""

    rule: str
    condition: str
    effect: str
    because: str
    source: str
    recorded: ReasonHere | None = None


@dataclass(frozen=True)
class Branch:
    """``taken``: True where this branch won, False where it was asked and did not hold, None where it was not reached."""

    rule: str
    conditions: tuple[str, ...]
    backend: str
    because: str
    taken: bool | None = None


@dataclass(frozen=True)
class DefaultTree:
    """Branches in the order they are asked. ``instead`` names what decided in the tree's place, None = the tree was asked."""

    rules_version: str
    source: str
    branches: tuple[Branch, ...]
    instead: str | None = None
