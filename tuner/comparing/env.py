"""How a user writes an environment to compare: everything but what he says is as configured."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from tuner.errors import UsageError

FOLDERS, SETTINGS, PRESENT = "path:", "with:", "present"
REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?==[A-Za-z0-9.!+_-]+")


@dataclass(frozen=True)
class Env:
    """``said`` is what was written. ``command`` replaces the configured one, ``folders`` come before the configured ones,
    ``packages`` ("name==version") are laid over what is installed, ``overrides`` are settings of this side alone."""

    said: str
    command: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()


def env_of(said: str) -> Env:
    """Of "present", "path:DIR[:DIR]", "name==version,...", "with:KEY=VALUE ...", an interpreter, or a command that ends in one.

    Raises `UsageError` where it is none of these.
    """
    text = said.strip()
    if text == PRESENT:
        return Env(said)
    if text.startswith(FOLDERS):
        return Env(said, folders=_folders(said, text.removeprefix(FOLDERS)))
    if text.startswith(SETTINGS):
        return Env(said, overrides=tuple(_words(said, text.removeprefix(SETTINGS))))
    parts = [part.strip() for part in text.split(",")]
    if any("==" in part for part in parts) and not re.search(r"\s", text):
        return Env(said, packages=_requirements(said, parts))
    words = _words(said, text)
    if not words:
        raise UsageError(f"the environment {said!r} is empty; write present, path:DIR, name==version, or a command that ends in a Python")
    return Env(said, command=tuple(words))


def _folders(said: str, text: str) -> tuple[str, ...]:
    folders = tuple(folder for folder in text.split(":") if folder)
    if not folders:
        raise UsageError(f"the environment {said!r} names no folder; write path:DIR or path:DIR:DIR")
    return folders


def _requirements(said: str, parts: list[str]) -> tuple[str, ...]:
    for part in parts:
        if not REQUIREMENT.fullmatch(part):
            raise UsageError(f"{part!r} in the environment {said!r} is not name==version; write flashinfer-python==0.6.4,triton==3.6.0")
    return tuple(parts)


def _words(said: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the environment {said!r} cannot be read ({error}); quote it as a shell would want it") from None
