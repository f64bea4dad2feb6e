"""One limit of a backend as data, and whether what is asked breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backends.allowed import Allowed, Taken
from backends.answers import Answer, Value
from backends.question import RULE_SETS, RULES
from backends.vocabulary import WORDS

ENGINE_SOURCES = tuple(f"{engine}/" for engine in RULE_SETS)

Answers = Mapping[str, Answer]
Clause = tuple[str, tuple[Allowed, ...]]

# Words that are answered otherwise in the other phase, or for another backend.
OWN = frozenset(("phase", "path", "page_size"))


@dataclass(frozen=True)
class Misfit:
    """A ``value`` that a limit does not take, None = nobody knows it. ``unknown`` conditions are taken to be met."""

    value: Value | None
    unknown: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        return self.value is not None and not self.unknown


class Misfits(dict[Answer, tuple[Misfit, ...]]):
    """What of an answer is not taken."""

    def __init__(self, takes: Taken) -> None:
        self._takes = takes

    def __missing__(self, answer: Answer) -> tuple[Misfit, ...]:
        values = (None,) if answer is None else tuple(value for value in answer if not self._takes[value])
        misfits = self[answer] = tuple(map(Misfit, values))
        return misfits


class Met(dict[Answer, bool | None]):
    """Whether some value of an answer is taken, None = nobody knows."""

    def __init__(self, allowed: tuple[Allowed, ...]) -> None:
        self._takes = Taken(allowed)

    def __missing__(self, answer: Answer) -> bool | None:
        met = self[answer] = None if answer is None else any(map(self._takes.__getitem__, answer))
        return met


class Scoped:
    """What holds under conditions alone."""

    when: tuple[Clause, ...]

    @cached_property
    def scope(self) -> tuple[tuple[str, Met], ...]:
        return tuple((rule, Met(items)) for rule, items in self.when)


class Excepted(Scoped):
    """What holds under conditions, and not where all of some others are met."""

    unless: tuple[Clause, ...]

    @cached_property
    def exceptions(self) -> tuple[tuple[str, Met], ...]:
        return tuple((rule, Met(items)) for rule, items in self.unless)


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
    when: tuple[Clause, ...] = ()
    why: str | None = None
    remedy: str | None = None
    becomes: int | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """All that it speaks of."""
        return frozenset((self.rule, *(rule for rule, _ in self.when)))

    @cached_property
    def steadfast(self) -> bool:
        """Whether it says the same in both phases, at any page size and of any backend."""
        return self.words.isdisjoint(OWN)

    @cached_property
    def takes(self) -> Taken:
        return Taken(self.allowed)

    @cached_property
    def misfits(self) -> Misfits:
        return Misfits(self.takes)

    @cached_property
    def in_words(self) -> str:
        """ "sm 80, 90", "head dim 8 to 256" or "none"; for what, and why."""
        allowed = listed(self.rule, self.allowed) if self.allowed else "none"
        scope = scope_in_words(self.when)
        return allowed + (f" for {scope}" if scope else "") + (f": {self.why}" if self.why else "")


def of_engine(source: str) -> bool:
    """Whether a limit is the engine's own and not that of a library it calls."""
    return source.startswith(ENGINE_SOURCES)


def unmet(scoped: Scoped, answers: Answers) -> tuple[str, ...] | None:
    """Conditions that nobody can tell, the others being met; None where one is not."""
    unknown: tuple[str, ...] = ()
    for rule, met in scoped.scope:
        known = met[answers[rule]]
        if known is None:
            unknown = (*unknown, rule)
        elif not known:
            return None
    return unknown


def holds(excepted: Excepted, answers: Answers) -> bool:
    """For one layer kind; what nobody can tell is taken to be met of the conditions, and not of the others."""
    excluded = bool(excepted.unless) and all(met[answers[rule]] for rule, met in excepted.exceptions)
    return unmet(excepted, answers) is not None and not excluded


def misfits(limit: Limit, answers: Answers) -> tuple[Misfit, ...]:
    """What of one layer kind's answers the limit does not take; empty where it does not count."""
    unknown = unmet(limit, answers) if limit.when else ()
    if unknown is None:
        return ()
    found = limit.misfits[answers[limit.rule]]
    return found if not unknown else tuple([Misfit(misfit.value, unknown) for misfit in found])


def scope_in_words(when: tuple[Clause, ...]) -> str:
    return " and ".join(listed(rule, items) for rule, items in when)


def listed(rule: str, items: tuple[Allowed, ...]) -> str:
    return WORDS[rule].text.format(", ".join(map(str, items)))
