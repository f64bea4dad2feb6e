"""What a server's command line chooses by itself, in every spelling its engine takes. Reads the file behind --config."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from tuner.engines.choices import Choices


@dataclass(frozen=True)
class Written:
    """``option`` as the user spelled it, ``value`` None where none follows; ``place`` is "the command line" or a file's name."""

    choice: str
    name: str
    option: str
    value: str | None
    place: str = "the command line"


def written(command: Sequence[str], choices: Choices) -> tuple[Written, ...]:
    """In order, those of configuration files last: the command line goes before them."""
    return (*_typed(command, choices), *_in_files(command, choices))


def value_of(command: Sequence[str], name: str) -> str | None:
    """That of the last option of this name on the command line, which is the one that counts."""
    return next((value for option, value in reversed(list(_options(command))) if _name(option) == name), None)


def _typed(command: Sequence[str], choices: Choices) -> Iterator[Written]:
    for option, value in _options(command):
        name = _name(option)
        if (choice := choices.chosen_by(name)) is not None:
            yield Written(choice, name, option, value)
        yield from _in_object(name, option, value, choices, "the command line")


def _options(command: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    for index, word in enumerate(command):
        if not word.startswith("-") or word in ("-", "--"):
            continue
        option, equals, value = word.partition("=")
        after = command[index + 1] if index + 1 < len(command) else None
        yield option, value if equals else after


def _name(option: str) -> str:
    return option.lstrip("-").replace("_", "-")


def _in_object(name: str, option: str, value: Any, choices: Choices, place: str) -> Iterator[Written]:
    """The keys of an option whose value is a JSON object."""
    keys = choices.objects.get(name, {})
    given = _json(value) if keys else {}
    for key, each in given.items():
        if (choice := keys.get(_name(str(key)))) is not None and each is not None:
            yield Written(choice, name, f"{option} ({key})", str(each), place)


def _json(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    try:
        found = json.loads(value or "")
    except (ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _in_files(command: Sequence[str], choices: Choices) -> Iterator[Written]:
    for index, word in enumerate(command[:-1]):
        if word == f"--{choices.config}":
            path = Path(command[index + 1])
            for key, value in _read(path).items():
                name, place = _name(str(key)), path.name
                if (choice := choices.chosen_by(name)) is not None:
                    yield Written(choice, name, f"{key}:", str(value), place)
                yield from _in_object(name, f"{key}:", value, choices, place)


def _read(path: Path) -> Mapping[str, Any]:
    """What cannot be read is for the server to complain about."""
    try:
        found = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def unread_config(command: Sequence[str], choices: Choices) -> str | None:
    """The word of a configuration file that the engine passes over without an error."""
    return next((word for word in command if word.startswith(f"--{choices.config}=")), None)
