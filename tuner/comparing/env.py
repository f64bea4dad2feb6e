"""How a user writes an environment to compare: everything but what he says is as configured."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from store.comparisons.side_by_side import SLOWED
from tuner.errors import UsageError

FOLDERS, SETTINGS, PRESENT = "path:", "with:", "present"
LEAST_SLOWED, MOST_SLOWED = 0.001, 1.0
SPECIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._ -]*\])?\s*([=~!<>]=|[<>])")  # what begins one, right or wrong
NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?(=[A-Za-z0-9.!+_-]*)?")  # a distribution without ==
REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?==[A-Za-z0-9.!+_-]+")


@dataclass(frozen=True)
class Env:
    """``said`` is what was written. ``command`` replaces the configured one, ``folders`` come before the configured ones,
    ``packages`` ("name==version") are laid over what is installed, ``overrides`` are settings of this side alone. ``slowed``: every
    sample has so many further launches, as a share: a slowdown of known size. ``pinned``: libraries that choose by timing choose as
    in the baseline."""

    said: str
    command: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    slowed: float = 0.0
    pinned: bool = False


def env_of(said: str) -> Env:
    """Of "present", "path:DIR[:DIR]", "name==version,...", "with:KEY=VALUE ...", "slowed:SHARE", an interpreter, or a command that
    ends in one.

    Raises `UsageError` where it is none of these.
    """
    text = said.strip()
    if text == PRESENT:
        return Env(said)
    if text.startswith(FOLDERS):
        return Env(said, folders=_folders(said, text.removeprefix(FOLDERS)))
    if text.startswith(SETTINGS):
        return Env(said, overrides=_settings(said, text.removeprefix(SETTINGS)))
    if text.startswith(SLOWED):
        return Env(said, slowed=_share(said, text.removeprefix(SLOWED)))
    if SPECIFIER.match(text) or ("==" in text and not re.search(r"\s", text)):
        return Env(said, packages=_requirements(said, [part.strip() for part in text.split(",")]))
    words = _words(said, text)
    if not words:
        raise UsageError(f"the environment {said!r} is empty; write present, path:DIR, name==version, or a command that ends in a Python")
    _refuse_versionless(said, words)
    return Env(said, command=tuple(words))


def _folders(said: str, text: str) -> tuple[str, ...]:
    folders = tuple(folder for folder in text.split(":") if folder)
    if not folders:
        raise UsageError(f"the environment {said!r} names no folder; write path:DIR or path:DIR:DIR")
    return folders


def _settings(said: str, text: str) -> tuple[str, ...]:
    settings = tuple(_words(said, text))
    if not settings:
        raise UsageError(f"the environment {said!r} names no setting; write with:KEY=VALUE, or present for what is configured")
    return settings


def _share(said: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not LEAST_SLOWED <= share <= MOST_SLOWED:
        raise UsageError(
            f"the environment {said!r} names no share of {LEAST_SLOWED} to {MOST_SLOWED:g}; write slowed:0.05 for what is configured, "
            "five percent slower"
        )
    return share


def _requirements(said: str, parts: list[str]) -> tuple[str, ...]:
    for part in parts:
        if not REQUIREMENT.fullmatch(part):
            raise UsageError(f"{part!r} in the environment {said!r} is not name==version; write flashinfer-python==0.6.4,triton==3.6.0")
    names = [canonicalize_name(part.partition("==")[0].partition("[")[0]) for part in parts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"the environment {said!r} names {twice} twice; name one version of it")
    return tuple(parts)


def _refuse_versionless(said: str, words: list[str]) -> None:
    """A single word that no shell would start is meant for a distribution."""
    if len(words) == 1 and NAMES.fullmatch(words[0]) and shutil.which(words[0]) is None:
        name = words[0].partition("=")[0]
        raise UsageError(
            f"the environment {said!r} is no command that can be started here, and no version of a distribution; "
            f"write {name}=={words[0].partition('=')[2] or 'VERSION'}"
        )


def _words(said: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the environment {said!r} cannot be read ({error}); quote it as a shell would want it") from None
