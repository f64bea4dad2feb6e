"""The rules on the path to a default that have a recorded reason."""

from __future__ import annotations

from collections.abc import Iterable

from store.engines.recorded_reason import ReasonHere
from store.engines.rule_path import RuleStep

Steps = tuple[tuple[str, ReasonHere], ...]


def recorded(path: Iterable[RuleStep]) -> Steps:
    """(rule, reason) of every step that has one."""
    return tuple((step.rule, step.recorded) for step in path if step.recorded)
