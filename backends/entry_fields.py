"""What one mapping of a backend entry holds under a key, or the mistake in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.allowed import Allowed, Multiple, Span, Taken
from backends.deviation import Step
from backends.limits import Clause
from backends.question import RULE_SETS
from backends.vocabulary import WORDS

ALL_KEYS = "all"  # of a window that is not looked at


class EntryError(ValueError):
    """A backend entry that cannot be read; the text names the backend, the key and what may stand there."""


def conditions_of(data: Mapping[str, Any], here: str) -> tuple[Clause, ...]:
    return tuple((rule_of(key, here), allowed_of(items, here)) for key, items in (data.get("when") or {}).items())


def engine_of(data: Mapping[str, Any], here: str) -> str:
    """The engine whose backend it is, SGLang where the entry names none."""
    engine = data.get("engine", "sglang")
    if engine not in RULE_SETS:
        raise EntryError(f"{here}: engine {engine!r} is unknown; write one of {', '.join(RULE_SETS)}")
    return str(engine)


def versions_of(data: Mapping[str, Any], here: str, engine: str) -> tuple[str, ...]:
    """The rule sets of ``engine`` that a list of them and of spans names; empty where there is no list."""
    items = allowed_of(items_of(data, "versions", here), here)
    takes = Taken(items)
    found = tuple(rules for rules in RULE_SETS[engine] if takes[rules])
    if items and not found:
        raise EntryError(f"{here}: versions names no rule set; write some of {', '.join(RULE_SETS[engine])}, or a span of them")
    return found


def rule_of(word: str, where: str) -> str:
    if word not in WORDS:
        raise EntryError(f"{where}: rule {word!r} is unknown; write one of {', '.join(sorted(WORDS))}")
    return word


def allowed_of(items: Any, where: str) -> tuple[Allowed, ...]:
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise EntryError(f"{where}: expected a list of values, got {items!r}; write [{items}]")
    return tuple(_value(item, where) for item in items)


def _value(item: Any, where: str) -> Allowed:
    if isinstance(item, str) and ".." in item:
        low, _, high = item.partition("..")
        return Span(low or None, high or None)
    if isinstance(item, str) and item[:-1].isdecimal() and item[-1] == "n":
        return Multiple(int(item[:-1]))
    if isinstance(item, bool) or not isinstance(item, (int, str)):
        raise EntryError(f"{where}: {item!r} is neither a whole number nor a word; put it in quotes")
    return item


def items_of(data: Mapping[str, Any], key: str, where: str) -> Sequence[Any]:
    items = data.get(key) or ()
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise EntryError(f"{where}: {key} is {items!r}; write a list")
    return items


def words_of(data: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    return tuple(str(item) for item in items_of(data, key, where))


def steps_of(data: Mapping[str, Any], here: str) -> tuple[Step, ...]:
    known = {step.value: step for step in Step}
    words = words_of(data, "steps", here)
    if not words or not known.keys() >= set(words):
        raise EntryError(f"{here}: steps are {', '.join(words) or 'missing'}; write some of [{', '.join(known)}]")
    return tuple(known[word] for word in words)


def sums_of(data: Mapping[str, Any], here: str) -> bool:
    sums = data.get("narrow_sums", False)
    if type(sums) is not bool:
        raise EntryError(f"{here}: narrow_sums is {sums!r}; write true, or leave it out")
    return sums


def keys_of(data: Mapping[str, Any], here: str) -> int | None:
    keys = data.get("keys")
    if sums_of(data, here):
        if keys is not None:
            raise EntryError(f"{here}: keys is {keys!r} beside narrow_sums; write one of them")
        return 0
    if keys == ALL_KEYS:
        return None
    if type(keys) is not int or not keys:
        raise EntryError(f"{here}: keys is {keys!r}; write how many more than its window a query sees, as -1, or {ALL_KEYS}")
    return keys


def required(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise EntryError(f"{where} needs {key!r}, a word; got {value!r}")
    return value


def refuse_unknown(data: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    unknown = [str(key) for key in data if key not in keys]
    if unknown:
        raise EntryError(f"{where}: key {unknown[0]!r} is unknown; write one of {', '.join(keys)}")
