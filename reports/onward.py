"""From what was typed to what may be typed next: a command that finds the same machine, engine and database again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from backends.spec import TimingSpec
from store.database.passwords import without_password

PLACE = ("gpu=", "gpu.", "engine.command=", "engine.path=")  # where the arms run, or what stands in for it
STORE = ("store.url=",)
FOLDER = ("--config-dir", "-cd")
ABOUT_ITSELF = ("fresh=", "without_default=", "explain=", "json=", "pin.path=", "scenarios=", "wait_for_gpu=", "ask_limit=", "patience.")
RETIRED = tuple(f"measure.timing.{name}=" for name in sorted(TimingSpec.RETIRED))  # older runs were asked with them


def command(*words: str, about: str = "") -> str:
    """As a shell takes it, with what it is for as a comment."""
    return without_password(shlex.join(words)) + (f"  # {about}" if about else "")


def again(typed: str, *words: str, about: str) -> str:
    """The very command, with ``words`` more."""
    return " ".join([without_password(typed), *words]) + f"  # {about}"


def place(typed: str) -> tuple[str, ...]:
    """Of a command that was ``typed``: what a command about its pin needs beside the pin to look where the arms ran."""
    return tuple(_kept(typed, PLACE))


def store(typed: str) -> tuple[str, ...]:
    """What a command about its run needs to find it."""
    return tuple(_kept(typed, STORE, folder=False))


def scenario(typed: str) -> tuple[str, ...]:
    """Every override that says what is asked, and where."""
    words = _words(typed)
    asked = [word for word in words if "=" in word and not word.startswith(("-", *ABOUT_ITSELF, *RETIRED))]
    return (*asked, *_folder(words))


def question(typed: str) -> tuple[str, ...]:
    """Every override that says what is asked, wherever that is."""
    elsewhere = {*place(typed), *store(typed)}
    return tuple(word for word in scenario(typed) if word not in elsewhere)


def _kept(typed: str, keys: tuple[str, ...], folder: bool = True) -> Iterator[str]:
    words = _words(typed)
    yield from (word for word in words if word.lstrip("+").startswith(keys))
    yield from _folder(words) if folder else ()


def _words(typed: str) -> list[str]:
    """Behind the command's name."""
    try:
        return shlex.split(typed)[2:]
    except ValueError:  # an unbalanced quote: nothing to take apart
        return []


def _folder(words: list[str]) -> Iterator[str]:
    """The folder of further groups, with its option."""
    for place, word in enumerate(words):
        if word in FOLDER:
            yield from words[place : place + 2]
        elif word.startswith(f"{FOLDER[0]}="):
            yield word
