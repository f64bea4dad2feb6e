"""What one mapping of a backend entry holds under a key, or the mistake in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.allowed import Allowed, Multiple, Span, Taken
from backends.limits import Clause
from backends.question import RULE_SETS
from backends.vocabulary import WORDS


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


def required(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise EntryError(f"{where} needs {key!r}, a word; got {value!r}")
    return value


def refuse_unknown(data: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    unknown = [str(key) for key in data if key not in keys]
    if unknown:
        raise EntryError(f"{where}: key {unknown[0]!r} is unknown; write one of {', '.join(keys)}")
