"""The launchers a pin can be written for: one file each in the group `launcher`, ours and those of --config-dir."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from reports.launchers.entries import Form, Place
from reports.launchers.launcher import Launcher
from tuner.errors import UsageError
from tuner.suggest import instead

KEYS = (
    *("like", "engine", "versions", "read", "carrier", "render", "comment", "note", "hint"),
    *("flags", "backends", "switches", "merge", "entries"),
)
REQUIRED = ("engine", "versions", "render", "flags")


def load_launchers(config_dir: str | None = None) -> dict[str, Launcher]:
    """Launchers by name; a folder's ``launcher/X.yaml`` adds X, or replaces ours. Raises `UsageError` for a bad entry.

    ``like: Y`` takes every key that an entry leaves out from Y.
    """
    theirs = Path(config_dir) / "launcher" if config_dir else None
    entries = {**_shipped(), **(_entries(theirs) if theirs is not None and theirs.is_dir() else {})}
    return {name: _launcher(name, _whole(name, entries)) for name in entries}


def launcher_for(name: str, launchers: Mapping[str, Launcher]) -> Launcher:
    """The launcher of that name. Raises `UsageError` with the nearest names."""
    if name not in launchers:
        raise UsageError(f"no launcher is called {name!r}; {instead(name, launchers)}")
    return launchers[name]


@cache
def _shipped() -> dict[str, dict[str, Any]]:
    """Those of the package; to be read only."""
    return _entries(files("conf") / "launcher")


def _entries(folder: Traversable) -> dict[str, dict[str, Any]]:
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda entry: entry.name)
    return {entry.name.removesuffix(".yaml"): _read(entry) for entry in found}


def _read(entry: Traversable) -> dict[str, Any]:
    try:
        content = YAML(typ="safe").load(entry.read_text(encoding="utf-8"))
    except YAMLError as error:
        raise UsageError(f"launcher/{entry.name} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise UsageError(f"launcher/{entry.name} must hold keys and values: {', '.join(KEYS)}")
    for key in content:
        if key not in KEYS:
            raise UsageError(f"launcher/{entry.name} has no key {key!r}; {instead(str(key), KEYS)}")
    return content


def _whole(name: str, entries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The entry with what it takes from another; one step, so that no two can lean on each other."""
    entry = dict(entries[name])
    base = entry.pop("like", None)
    if base is None:
        return entry
    if base not in entries or "like" in entries[base]:
        known = [other for other in entries if "like" not in entries[other]]
        raise UsageError(f"launcher/{name}.yaml is like {base!r}, which is no launcher of its own; {instead(str(base), known)}")
    return {**entries[base], **entry}


def _launcher(name: str, entry: dict[str, Any]) -> Launcher:
    for key in REQUIRED:
        if not entry.get(key):
            raise UsageError(f"launcher/{name}.yaml lacks {key}")
    words = {key: {str(ours): str(theirs) for ours, theirs in (entry.get(key) or {}).items()} for key in ("flags", "backends")}
    return Launcher(
        name=name,
        engine=str(entry["engine"]),
        versions=str(entry["versions"]),
        render=_function(name, "render", str(entry["render"])),
        flags=words["flags"],
        backends=words["backends"],
        comment=entry.get("comment"),
        note=entry.get("note"),
        hint=entry.get("hint"),
        places=tuple(_place(name, place) for place in entry.get("merge") or ()),
        entries=_function(name, "entries", str(entry["entries"])) if entry.get("entries") else None,
        read=entry.get("read"),
        carrier=entry.get("carrier"),
        switches=tuple(map(str, entry.get("switches") or ())),
    )


def _place(launcher: str, entry: Any) -> Place:
    try:
        return Place(Form(entry["form"]), tuple(map(str, entry["at"])))
    except (TypeError, KeyError, ValueError):
        forms = ", ".join(form.value for form in Form)
        raise UsageError(f"launcher/{launcher}.yaml: merge {entry!r} is no place; write {{form: one of {forms}, at: [key, ...]}}") from None


def _function(launcher: str, key: str, path: str) -> Any:
    """What "module:function" names. A configuration file names code, and so is code."""
    module, _, function = path.partition(":")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"launcher/{launcher}.yaml: {key} {path!r} cannot be loaded ({error}); write module:function") from None
