"""The backends of an engine as the package ships them, read without Hydra, which takes half a second to merge their files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Any

import yaml

from backends.capability import BackendEntry
from backends.entry import entry_from

DEFAULT_ENGINE = "sglang"
ENGINE = re.compile(r"engine=(\w+)")
CHOOSING = re.compile(r"[+~]*(backends?\b|engine[=@]|hydra\.)")  # what may change the backends: their keys, an engine, where Hydra looks
PACKAGE = re.compile(r"^# @package backends\.(\S+)", re.MULTILINE)
GROUP = ("backend", "override /backend@_global_.backend")  # as a defaults list names it; an engine's list replaces the other
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def shipped_entries(engine: str) -> tuple[BackendEntry, ...]:
    """Those of the group `backend` that are of ``engine``; a folder given with --config-dir is not seen."""
    return tuple(entry for entry in map(_entry, _files(files("conf") / "backend")) if entry.engine == engine)


def engine_alone(overrides: Sequence[str]) -> str | None:
    """The engine whose own backends are meant; None where ``overrides`` may mean others."""
    engines = [found[1] for found in map(ENGINE.fullmatch, overrides) if found]
    choosing = sum(map(bool, map(CHOOSING.match, overrides)))
    return None if choosing > len(engines) or len(engines) > 1 else next(iter(engines), DEFAULT_ENGINE)


@cache
def default_backends(engine: str) -> dict[str, Any]:
    """What a composition in which ``engine`` alone was chosen holds under `backends`, in that order; to be read only."""
    folder = files("conf")
    lists = [_read(folder / file).get("defaults", ()) for file in ("config.yaml", f"engine/{engine}.yaml")]
    chosen = [each[group] for each in chain(*lists) if isinstance(each, dict) for group in GROUP if group in each]
    return dict(_named(folder / "backend" / f"{name}.yaml") for name in chosen[-1])


def _files(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry)
        elif entry.name.endswith(".yaml"):
            yield entry


def _entry(file: Traversable) -> BackendEntry:
    name, tree = _named(file)
    return entry_from({"name": name, **tree})


def _named(file: Traversable) -> tuple[str, dict[str, Any]]:
    """Its name is that of the node it is placed at."""
    package = PACKAGE.search(file.read_text(encoding="utf-8"))
    return package[1] if package else file.name.removesuffix(".yaml"), _read(file)


def _read(file: Traversable) -> dict[str, Any]:
    return dict(yaml.load(file.read_text(encoding="utf-8"), LOADER))
