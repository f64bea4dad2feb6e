"""From one file of the `backend` group to a `BackendEntry`. YAML holds values and names only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.arm import Provider
from backends.capability import BackendEntry, Capability, DriverEntry
from backends.limits import Allowed, Limit, Span
from backends.question import RULES
from backends.vocabulary import WORDS

ENTRY_KEYS = ("name", "source", "versions", "limits", "modules", "drivers", "aliases", "graph")
LIMIT_KEYS = ("rule", "allowed", "source", "versions", "when", "why", "remedy", "becomes")
DRIVER_KEYS = ("provider", "driver", "packages", "devices", "attention", "tools")


class EntryError(ValueError):
    """A backend entry that cannot be read; the text names the backend, the key and what may stand there."""


def entry_from(data: Mapping[str, Any]) -> BackendEntry:
    """The entry that ``data`` describes. ``source`` and ``versions`` at the top stand for every limit that has none itself.

    Raises `EntryError` for an unknown key or rule, a missing one, or a value of the wrong kind.
    """
    name = _required(data, "name", "a backend entry")
    where = f"backend {name}"
    _known(data, ENTRY_KEYS, where)
    versions = _words(data, "versions", where) or RULES
    limits = tuple(_limit(item, data.get("source"), versions, where) for item in _items(data, "limits", where))
    return BackendEntry(
        name=name,
        capability=Capability(limits, _words(data, "modules", where), versions),
        drivers=tuple(_driver(item, where) for item in _items(data, "drivers", where)),
        aliases=_words(data, "aliases", where),
        graph=bool(data.get("graph", True)),
    )


def _limit(data: Mapping[str, Any], source: str | None, versions: tuple[str, ...], where: str) -> Limit:
    rule = _rule(_required(data, "rule", where), where)
    here = f"{where}, limit {rule}"
    _known(data, LIMIT_KEYS, here)
    return Limit(
        rule=rule,
        allowed=_allowed(_items(data, "allowed", here), here),
        source=data.get("source") or source or _required(data, "source", here),
        versions=_words(data, "versions", here) or versions,
        when=tuple((_rule(key, here), _allowed(items, here)) for key, items in (data.get("when") or {}).items()),
        why=data.get("why"),
        remedy=data.get("remedy"),
        becomes=data.get("becomes"),
    )


def _driver(data: Mapping[str, Any], where: str) -> DriverEntry:
    _known(data, DRIVER_KEYS, f"{where}, driver")
    provider = _required(data, "provider", f"{where}, driver")
    if provider not in {member.value for member in Provider}:
        raise EntryError(f"{where}: provider {provider!r} is unknown; write engine or kernel")
    return DriverEntry(
        provider=Provider(provider),
        driver=_required(data, "driver", f"{where}, driver"),
        packages=_words(data, "packages", where),
        devices=_words(data, "devices", where),
        attention=_words(data, "attention", where) or ("mha",),
        tools=_words(data, "tools", where),
    )


def _rule(word: str, where: str) -> str:
    if word not in WORDS:
        raise EntryError(f"{where}: rule {word!r} is unknown; write one of {', '.join(sorted(WORDS))}")
    return word


def _allowed(items: Any, where: str) -> tuple[Allowed, ...]:
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise EntryError(f"{where}: expected a list of values, got {items!r}; write [{items}]")
    return tuple(_value(item, where) for item in items)


def _value(item: Any, where: str) -> Allowed:
    if isinstance(item, str) and ".." in item:
        low, _, high = item.partition("..")
        return Span(low or None, high or None)
    if isinstance(item, bool) or not isinstance(item, (int, str)):
        raise EntryError(f"{where}: {item!r} is neither a whole number nor a word; put it in quotes")
    return item


def _items(data: Mapping[str, Any], key: str, where: str) -> Sequence[Any]:
    items = data.get(key) or ()
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise EntryError(f"{where}: {key} is {items!r}; write a list")
    return items


def _words(data: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    return tuple(str(item) for item in _items(data, key, where))


def _required(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise EntryError(f"{where} needs {key!r}, a word; got {value!r}")
    return value


def _known(data: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    unknown = [str(key) for key in data if key not in keys]
    if unknown:
        raise EntryError(f"{where}: key {unknown[0]!r} is unknown; write one of {', '.join(keys)}")
