"""One limit of a backend as data, and whether what is asked breaks it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from backends.answers import Answer, Value
from backends.question import RULES
from backends.vocabulary import WORDS

Release = tuple[int, ...]
Answers = Mapping[str, Answer]


@lru_cache(maxsize=4096)
def release(text: str) -> Release:
    """The leading numbers of a version, comparable: "0.6.16rc2" -> (0, 6, 16). Empty where there is none."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, match.group().split("."))) if match else ()


@dataclass(frozen=True)
class Span:
    """Both ends included, None = open. Numbers and versions alike, part by part: "8..256", "12.3..", "2.."."""

    low: str | None
    high: str | None

    def __contains__(self, value: Value) -> bool:
        number = release(str(value))
        above = self.low is None or number >= release(self.low)
        return bool(number) and above and (self.high is None or number <= release(self.high))

    def __str__(self) -> str:
        if self.high is None:
            return f"{self.low} or more"
        return f"{self.high} or less" if self.low is None else f"{self.low} to {self.high}"


Allowed = int | str | Span
Condition = tuple[str, tuple[Allowed, ...]]


class Taken(dict[Value, bool]):
    """Whether some values and spans take a value; each is looked at once."""

    def __init__(self, allowed: tuple[Allowed, ...]) -> None:
        self._allowed = allowed

    def __missing__(self, value: Value) -> bool:
        taken = self[value] = any(value in item if isinstance(item, Span) else value == item for item in self._allowed)
        return taken


class Scoped:
    """What holds under conditions alone."""

    when: tuple[Condition, ...]

    @cached_property
    def scope(self) -> tuple[tuple[str, Taken], ...]:
        return tuple((rule, Taken(items)) for rule, items in self.when)


@dataclass(frozen=True)
class Limit(Scoped):
    """``allowed`` values of ``rule``; empty = none at all. Holds for the rule sets in ``versions`` and only where every
    condition of ``when`` does, each over the same words; conditions on a layer are taken together on one layer kind.
    ``why`` says what would happen else. ``becomes`` (page sizes only) is what the engine silently changes a misfit to.
    ``source``: file and function, paths as in the newest version.
    """

    rule: str
    allowed: tuple[Allowed, ...]
    source: str
    versions: tuple[str, ...] = RULES
    when: tuple[Condition, ...] = ()
    why: str | None = None
    remedy: str | None = None
    becomes: int | None = None

    @cached_property
    def takes(self) -> Taken:
        return Taken(self.allowed)

    @cached_property
    def in_words(self) -> str:
        """ "sm 80, 90", "head dim 8 to 256" or "none"; for what, and why."""
        allowed = listed(self.rule, self.allowed) if self.allowed else "none"
        scope = scope_in_words(self.when)
        return allowed + (f" for {scope}" if scope else "") + (f": {self.why}" if self.why else "")


@dataclass(frozen=True)
class Misfit:
    """A ``value`` that a limit does not take, None = nobody knows it. ``unknown`` conditions are taken to be met."""

    value: Value | None
    unknown: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        return self.value is not None and not self.unknown


def of_engine(source: str) -> bool:
    """Whether a limit is the engine's own and not that of a library it calls."""
    return source.startswith("sglang/")


def unmet(scoped: Scoped, answers: Answers) -> tuple[str, ...] | None:
    """Conditions that nobody can tell, the others being met; None where one is not."""
    unknown: tuple[str, ...] = ()
    for rule, takes in scoped.scope:
        answer = answers[rule]
        if answer is None:
            unknown = (*unknown, rule)
        elif not any(map(takes.__getitem__, answer)):
            return None
    return unknown


def misfits(limit: Limit, answers: Answers) -> tuple[Misfit, ...]:
    """What of one layer kind's answers the limit does not take; empty where it does not count."""
    unknown = unmet(limit, answers)
    if unknown is None:
        return ()
    answer = answers[limit.rule]
    if answer is None:
        return (Misfit(None, unknown),)
    takes = limit.takes
    return tuple([Misfit(value, unknown) for value in answer if not takes[value]])


def scope_in_words(when: tuple[Condition, ...]) -> str:
    return " and ".join(listed(rule, items) for rule, items in when)


def listed(rule: str, items: tuple[Allowed, ...]) -> str:
    return WORDS[rule].text.format(", ".join(map(str, items)))
