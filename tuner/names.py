"""Every name a user may write in an override: keys, groups, the options of a group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, cast, get_type_hints

from tuner.schema import Root

KNOWLEDGE = "known"  # the folder of conf that holds facts and no choices


def keys(node: type = Root, prefix: str = "") -> Iterator[str]:
    """Every dotted key a user may set, inner nodes too ("engine", "engine.page_size")."""
    for name, kind in get_type_hints(node).items():
        yield prefix + name
        if is_dataclass(kind):
            yield from keys(cast(type, kind), f"{prefix}{name}.")


def unknown_keys(tree: Mapping[str, Any]) -> Iterator[str]:
    """Dotted keys of a configuration tree that the schema lacks. What lies under `backends` is read elsewhere."""
    known = set(keys())
    for key, value in tree.items():
        nested = _nested(value, f"{key}.") if key != "backends" else ()
        yield from (name for name in (key, *nested) if name not in known)


def _nested(value: Any, prefix: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{prefix}{key}"
            yield from _nested(item, f"{prefix}{key}.")


def groups() -> dict[str, tuple[str, ...]]:
    """Each configuration group of the package with its options; folders given with --config-dir are not seen."""
    folders = [entry for entry in files("conf").iterdir() if entry.is_dir() and entry.name[0] != "_" and entry.name != KNOWLEDGE]
    return {folder.name: tuple(sorted(_options(folder))) for folder in folders}


def _options(folder: Traversable) -> Iterator[str]:
    return (entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))
