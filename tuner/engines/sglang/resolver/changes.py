"""Records with other values in some fields, and what a rule changed."""

from __future__ import annotations

from typing import Any, TypeVar

from tuner.engines.sglang.resolver.outcome import Change
from tuner.engines.sglang.resolver.record import Computes, Rule, Sets, Settings
from tuner.engines.sglang.resolver.request import Request

Values = TypeVar("Values", Settings, Request)


def with_values(record: Values, values: dict[str, Any]) -> Values:
    """`dataclasses.replace`, which sets every field of a frozen record by itself and takes ten times as long."""
    other = object.__new__(type(record))
    object.__setattr__(other, "__dict__", vars(record) | values)
    return other


def applied(effect: Sets | Computes, request: Request, settings: Settings) -> Settings:
    return with_values(settings, dict(effect.values) if isinstance(effect, Sets) else effect.values(request, settings))


def changes_between(before: Settings, after: Settings, rule: Rule) -> list[Change]:
    """What ``rule`` did, in the order of the settings."""
    old, new = vars(before), vars(after)
    names = [rule.then.values[0][0]] if isinstance(rule.then, Sets) and len(rule.then.values) == 1 else old
    return [Change(name, old[name], new[name], rule.id) for name in names if old[name] != new[name]]
