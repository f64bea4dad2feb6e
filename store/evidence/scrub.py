"""What is made for committing says nothing of where it was made: no absolute path, no host, no account."""

from __future__ import annotations

import getpass
import re
import shlex
import socket
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from backends.wire import from_plain, to_plain
from store.runs.run import Run
from store.scenario import Engine

# A slash that begins a word (after a scheme or a compiler's -I too) and leads to a name. In "a/b" and "https://x/y" none does.
ABSOLUTE_PATH = re.compile(r"(?:\b\w+:///?|(?<![\w.~/)\]<])|(?<=-[A-Z]))/([\w.+@~=-]+(?:/[\w.+@~=-]+)*)/?")
HOMES = ("home", "Users")
CUT = "..."

# Overrides whose value is a place, and what stands for it in a command that others are to repeat.
PLACES = {"engine.command": "COMMAND", "engine.path": "PATH", "model.path": "CHECKPOINT", "store.url": "URL", "traffic.path": "FILE"}
PLACES |= dict.fromkeys(("--config-dir", "--wheels", "--out"), "DIR")

# Accounts and hosts that are no one's.
NAMELESS = frozenset({"root", "nobody", "user", "ubuntu", "localhost", "localdomain"})


def without_paths(text: str) -> str:
    """Every absolute path cut to its last name ("/opt/venv/lib/x.py" -> ".../x.py"), a home folder to "~"."""
    return ABSOLUTE_PATH.sub(lambda match: _last_name(match[1].split("/")), text)


def without_names(text: str, names: Iterable[str]) -> str:
    """``names`` where they stand as whole words replaced by "..."."""
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{alternatives})(?!\w)", CUT, text) if alternatives else text


def without_places(command: str) -> str:
    """A command line that can be repeated elsewhere: places become words in capitals, other absolute paths their last name."""
    try:
        words = shlex.split(command)
    except ValueError:  # an unbalanced quote: nothing to take apart
        return without_paths(command)
    return without_paths(shlex.join(_place_words(words)))


def private_names(engine: Engine) -> frozenset[str]:
    """The account and host this runs on, and those an ssh command names."""
    host = socket.gethostname()
    found = {_account(), host, host.partition(".")[0]}
    if engine.command and PurePosixPath(engine.command[0]).name == "ssh":
        found |= {part for word in engine.command[1:-1] if not word.startswith("-") for part in word.split("@")}
    return frozenset(name for name in found if len(name) > 2 and name not in NAMELESS)


def scrubbed(run: Run, names: Iterable[str] = ()) -> Run:
    """``run`` with every string free of absolute paths; ``names`` go from the texts machines wrote (trial details,
    variables, the command) alone, since elsewhere the same word may be a backend's or a board's. Doing it twice changes nothing.
    """
    plain = _each_string(to_plain(replace(run, scenario=replace(run.scenario, engine=_anywhere(run.scenario.engine)))), without_paths)
    plain["command"] = without_names(without_places(run.command), names)
    for trial in plain["trials"]:
        trial["detail"] = _each_string(trial["detail"], lambda text: without_names(text, names))
    variables = plain["environment"]["variables"]
    plain["environment"]["variables"] = [[key, without_names(value, names)] for key, value in variables]
    return from_plain(Run, plain)


def _anywhere(engine: Engine) -> Engine:
    """The command's first and last word, without what lies between (hosts, images, pods)."""
    first, last = engine.command[:1], engine.command[1:][-1:]
    between = (CUT,) if len(engine.command) > 2 else ()
    return replace(engine, command=first + between + last)


def _each_string(plain: Any, change: Callable[[str], str]) -> Any:
    if isinstance(plain, str):
        return change(plain)
    if isinstance(plain, list):
        return [_each_string(item, change) for item in plain]
    if isinstance(plain, dict):
        return {key: _each_string(item, change) for key, item in plain.items()}
    return plain


def _last_name(names: list[str]) -> str:
    return "~" if len(names) == 2 and names[0] in HOMES else f"{CUT}/{names[-1]}"


def _place_words(words: list[str]) -> list[str]:
    kept: list[str] = []
    for word in words:
        name, equals, _ = word.partition("=")
        if equals and name.lstrip("+~") in PLACES:
            word = f"{name}={PLACES[name.lstrip('+~')]}"
        elif kept and kept[-1] in PLACES:
            word = PLACES[kept[-1]]
        kept.append(word)
    return kept


def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without an account, as containers have
        return ""
