"""One limit of a backend as data, and whether a question breaks it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backends.model import LayerKind
from backends.question import RULES, Question
from backends.reason import Reason
from backends.vocabulary import WORDS, Value, asked_in_words

Release = tuple[int, ...]


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


def allows(allowed: tuple[Allowed, ...], value: Value) -> bool:
    return any(value in item if isinstance(item, Span) else value == item for item in allowed)


@dataclass(frozen=True)
class Limit:
    """``allowed`` values of ``rule``; empty = none at all. Holds for the rule sets in ``versions`` and only where every
    condition of ``when`` does, each over the same words; conditions on a layer are taken together on one layer kind.
    ``why`` says what would happen else. ``becomes`` (page sizes only) is what the engine silently changes a misfit to.
    ``source``: file and function, paths as in the newest version.
    """

    rule: str
    allowed: tuple[Allowed, ...]
    source: str
    versions: tuple[str, ...] = RULES
    when: tuple[tuple[str, tuple[Allowed, ...]], ...] = ()
    why: str | None = None
    remedy: str | None = None
    becomes: int | None = None


def holds(limit: Limit, question: Question, layer: LayerKind) -> bool:
    """Whether the limit's version and conditions are met, so that it counts."""
    met = (any(allows(allowed, value) for value in WORDS[rule].ask(question, layer)) for rule, allowed in limit.when)
    return question.rules in limit.versions and all(met)


def misfits(limit: Limit, question: Question, layer: LayerKind) -> tuple[Value, ...]:
    """The asked values that the limit does not allow; empty where it does not count."""
    if not holds(limit, question, layer):
        return ()
    return tuple(value for value in WORDS[limit.rule].ask(question, layer) if not allows(limit.allowed, value))


def reason(limit: Limit, value: Value) -> Reason:
    return Reason(
        rule=limit.rule,
        asked=asked_in_words(limit.rule, value),
        allowed=allowed_in_words(limit),
        remedy=limit.remedy or WORDS[limit.rule].remedy,
        source=source_in_words(limit),
    )


def source_in_words(limit: Limit) -> str:
    """The source, with the versions the rule holds for where it is the engine's."""
    return f"{limit.source} ({' and '.join(limit.versions)})" if limit.source.startswith("sglang/") else limit.source


def allowed_in_words(limit: Limit) -> str:
    """ "sm 80, 90", "head dim 8 to 256" or "none"; for what, and why."""
    allowed = listed(limit.rule, limit.allowed) if limit.allowed else "none"
    scope = " and ".join(listed(rule, items) for rule, items in limit.when)
    return allowed + (f" for {scope}" if scope else "") + (f": {limit.why}" if limit.why else "")


def listed(rule: str, items: tuple[Allowed, ...]) -> str:
    return WORDS[rule].text.format(", ".join(map(str, items)))
