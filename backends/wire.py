"""Frozen dataclasses to JSON-ready values and back: what crosses to the worker, into the store and into the evidence."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
Reader = Callable[[Any], Any]

PLAIN = (str, int, float, bool, type(None))


class WireError(ValueError):
    """Data that does not fit the record it is read into; the text names class, field and value."""


def to_plain(value: Any) -> Any:
    """Dataclasses to dicts, tuples to lists, enums to their values; everything else must be JSON already."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return list(value) if set(map(type, value)) <= set(PLAIN) else [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(getattr(value, name)) for name in _field_names(type(value))}
    raise WireError(f"{type(value).__name__} cannot be sent: {value!r:.60}; use a dataclass, tuple, enum, str, number or None")


def from_plain(cls: type[T], data: Any) -> T:
    """The value of type ``cls`` (a dataclass, or any annotation one may hold) that `to_plain` turned into ``data``.

    An unknown key, a missing field without a default and a value of another type raise `WireError`; an integer is taken
    where a float is asked. Fields that a class names in ``RETIRED`` are dropped: older files hold them. What a constructor
    refuses passes through as it was raised.
    """
    annotation: Any = cls
    return typing.cast(T, _reader(annotation)(data))


@cache
def _field_names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


@cache
def _reader(annotation: Any) -> Reader:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        return _repeated(tuple, args[0]) if args[-1] is Ellipsis else _positional(args)
    if origin is list:
        return _repeated(list, args[0])
    if origin is dict:
        return _mapping(args[1])
    if origin in (typing.Union, types.UnionType):
        return _optional(args)
    return _single(annotation)


def _single(annotation: Any) -> Reader:
    if annotation is Any:
        return lambda data: data
    if dataclasses.is_dataclass(annotation):
        return _record(typing.cast(type, annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _member(annotation)
    if annotation in PLAIN:
        return _scalar(annotation)
    raise WireError(f"{annotation} is no type that travels; use a dataclass, tuple, enum, str, number or None")


def _scalar(kind: type) -> Reader:
    def read(data: Any) -> Any:
        if type(data) is kind:
            return data
        if kind is float and type(data) is int:
            return float(data)
        raise WireError(f"expected {kind.__name__}, got {data!r:.60}")

    return read


def _member(enum: type[Enum]) -> Reader:
    members = {member.value: member for member in enum}

    def read(data: Any) -> Any:
        if isinstance(data, (str, int)) and data in members:
            return members[data]
        raise WireError(f"{data!r:.60} is no {enum.__name__}; it is one of {', '.join(map(repr, members))}")

    return read


def _optional(args: tuple[Any, ...]) -> Reader:
    kinds = [kind for kind in args if kind is not type(None)]
    if len(kinds) != 1 or len(args) != 2:
        raise WireError(f"a union other than `X | None` does not travel: {args}")
    inner = _reader(kinds[0])
    return lambda data: None if data is None else inner(data)


def _items(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return data
    raise WireError(f"expected a list, got {data!r:.60}")


def _repeated(container: Callable[[Any], Any], kind: Any) -> Reader:
    inner = _reader(kind)

    def read(data: Any) -> Any:
        if kind in PLAIN and set(map(type, _items(data))) <= {kind}:
            return container(data)
        return container(map(inner, _items(data)))

    return read


def _positional(kinds: tuple[Any, ...]) -> Reader:
    readers = [_reader(kind) for kind in kinds]

    def read(data: Any) -> Any:
        if len(_items(data)) != len(readers):
            raise WireError(f"expected {len(readers)} items, got {data!r:.60}")
        return tuple(read_item(item) for read_item, item in zip(readers, data))

    return read


def _mapping(kind: Any) -> Reader:
    inner = _reader(kind)

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise WireError(f"expected a mapping, got {data!r:.60}")
        return {key: inner(item) for key, item in data.items()}

    return read


def _record(cls: type) -> Reader:
    readers: dict[str, Reader] = {}

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise WireError(f"{cls.__name__}: expected a mapping, got {data!r:.60}")
        if not readers:  # on first use, so that a record may hold its own kind
            hints = typing.get_type_hints(cls)
            readers.update({name: _reader(hints[name]) for name in _field_names(cls)})
        kept = _without_retired(cls, data)
        _check_keys(cls, kept)
        return cls(**{name: _read_field(cls, name, readers[name], item) for name, item in kept.items()})

    return read


def _without_retired(cls: type, data: dict[str, Any]) -> dict[str, Any]:
    retired: frozenset[str] = getattr(cls, "RETIRED", frozenset())
    return {name: item for name, item in data.items() if name not in retired}


def _read_field(cls: type, name: str, read: Reader, item: Any) -> Any:
    try:
        return read(item)
    except WireError as error:
        raise WireError(f"{cls.__name__}.{name}: {error}") from None


def _check_keys(cls: type, data: dict[str, Any]) -> None:
    fields = dataclasses.fields(cls)
    unknown = sorted(data.keys() - {field.name for field in fields})
    if unknown:
        raise WireError(f"{cls.__name__} has no field {', '.join(map(repr, unknown))}; it was written by another version")
    required = {f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING}
    missing = sorted(required - data.keys())
    if missing:
        raise WireError(f"{cls.__name__} lacks {', '.join(map(repr, missing))}")
