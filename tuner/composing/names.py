"""Every name a user may write in an override: keys, groups, the options of a group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import UnionType
from typing import Any, get_args, get_type_hints

from tuner.schema.root import Root

KNOWLEDGE = "known"  # the folder of conf that holds facts and no choices


def keys(node: type = Root, prefix: str = "") -> Iterator[str]:
    """Every dotted key a user may set, inner nodes too ("engine", "engine.page_size")."""
    for name, kind in get_type_hints(node).items():
        yield prefix + name
        if (inner := _node(kind)) is not None:
            yield from keys(inner, f"{prefix}{name}.")


def unknown_keys(tree: Mapping[str, Any], node: type = Root, prefix: str = "") -> Iterator[str]:
    """Dotted keys of a configuration tree that the schema lacks. What lies under `backends` is read elsewhere."""
    kinds = get_type_hints(node)
    for key, value in tree.items():
        inner = _node(kinds.get(key))
        if key not in kinds:
            yield prefix + key
        elif inner is not None and isinstance(value, Mapping):
            yield from unknown_keys(value, inner, f"{prefix}{key}.")


def _node(kind: Any) -> type | None:
    """The schema class that a key's type is, or may be; None for a plain value, a list, or a mapping of free names."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    return next((each for each in kinds if is_dataclass(each) and isinstance(each, type)), None)


def groups() -> dict[str, tuple[str, ...]]:
    """Each configuration group of the package with its options; folders given with --config-dir are not seen."""
    folders = [entry for entry in files("conf").iterdir() if entry.is_dir() and entry.name[0] != "_" and entry.name != KNOWLEDGE]
    return {folder.name: tuple(sorted(_options(folder))) for folder in folders}


def _options(folder: Traversable, prefix: str = "") -> Iterator[str]:
    """Those of a folder inside are named with it: "vllm/flash_attn"."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _options(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".yaml"):
            yield prefix + entry.name.removesuffix(".yaml")
