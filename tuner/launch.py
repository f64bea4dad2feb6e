"""Starts a server with a pin's flags: the story of `attnpin launch`. This process becomes the server."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NoReturn

from backends.question import ENGINES
from backends.simulated.world import is_simulated
from reports import wording
from reports.page import clean
from store.errors import StoreError
from store.pin import Pin
from store.pin_files import read_pin
from tuner.boundary import say
from tuner.check import check_fast
from tuner.engines.choices import Choices
from tuner.engines.lookup import choices_of
from tuner.errors import AttnpinError, Incomplete, UsageError
from tuner.launching.additions import Additions, additions
from tuner.launching.interpreter import interpreter_of
from tuner.launching.on_stale import OnStale
from tuner.launching.written import unread_config, written
from tuner.settings import compose

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish")


@dataclass(frozen=True)
class Asked:
    """``command`` is the server's; ``overrides`` say how to reach where it serves, if the command does not show it."""

    pin: Path
    command: tuple[str, ...]
    on_stale: OnStale = OnStale.WARN
    overrides: tuple[str, ...] = ()
    config_dir: str | None = None


def launch(asked: Asked) -> NoReturn:
    """Raises `UsageError` for a pin or a command that cannot be started together, `Incomplete` for a stale pin that is refused."""
    pin = read_pin(asked.pin)
    choices = choices_for(pin, asked.command)
    stale = staleness(asked)
    if stale is not None and asked.on_stale is OnStale.REFUSE:
        raise Incomplete(f"not started, the pin may no longer hold: {stale}")
    added = added_to(pin, asked, choices, stale)
    for sentence in added.said:
        say(clean(sentence))
    become((*asked.command, *added.words))


def choices_for(pin: Pin, command: Sequence[str]) -> Choices:
    """The words of the pin's engine. Raises `UsageError` where the pin's flags cannot be given to ``command``."""
    if is_simulated(pin.valid_for.gpu):
        raise UsageError(f"this pin was made on {pin.valid_for.gpu}, which is no GPU that anything could serve on; tune on a real one")
    if PurePath(command[0]).name in SHELLS and any(word.startswith("-") and "c" in word for word in command[1:2]):
        raise UsageError(
            f"{command[0]} {command[1]} takes a whole script, to which no flag can be added; give the server's own words after --"
        )
    others = [name for name in ENGINES if name != pin.engine and _starts(name, command)]
    if others:
        raise UsageError(
            f"this pin belongs to {wording.engine(pin.engine)}, and the command starts {wording.engine(others[0])}; tune for that engine"
        )
    try:
        return choices_of(pin.engine)
    except KeyError:
        raise UsageError(f"pin {pin.run} is of engine {pin.engine!r}, whose options this attnpin does not know") from None


def _starts(engine: str, command: Sequence[str]) -> bool:
    """ "vllm serve", "/opt/venv/bin/vllm serve", "-m vllm.entrypoints.openai.api_server"; the same word elsewhere may be a model's name."""
    pairs = zip(("", *command), command, (*command[1:], ""))
    return any(
        word.partition(".")[0] == engine if before == "-m" else PurePath(word).name == engine and after == "serve"
        for before, word, after in pairs
    )


def staleness(asked: Asked) -> str | None:
    """Why the pin may no longer hold where the command serves; None = nothing under it changed. What cannot be checked may not hold."""
    try:
        found = check_fast(asked.pin, compose([*_where(asked), *asked.overrides], asked.config_dir))
    except (AttnpinError, StoreError) as error:
        return f"it could not be checked: {error}"
    return None if found.exit_code == 0 else f"{found.status.value}: {found.sentence}"


def _where(asked: Asked) -> tuple[str, ...]:
    """The interpreter that the command shows, unless the user says another."""
    said = any(override.lstrip("+").startswith("engine.command=") for override in asked.overrides)
    python = None if said else interpreter_of(asked.command)
    quoted = "" if python is None else python.replace("\\", "\\\\").replace("'", "\\'")
    return (f"engine.command=['{quoted}']",) if quoted else ()


def added_to(pin: Pin, asked: Asked, choices: Choices, stale: str | None) -> Additions:
    """What the command is given, and all that is to be said before it starts."""
    unread = unread_config(asked.command, choices)
    warned = (f"{wording.engine(pin.engine)} passes over {unread} without an error: write it as two words",) if unread else ()
    if stale is None:
        found = additions(pin, written(asked.command, choices), choices)
        return Additions(found.words, (*warned, *found.said))
    warned = (*warned, f"the pin may no longer hold: {stale}")
    if asked.on_stale is OnStale.DEFAULT:
        return Additions((), (*warned, "the command is started as it is, without the pin's flags"))
    found = additions(pin, written(asked.command, choices), choices)
    return Additions(found.words, (*warned, *found.said))


def become(command: Sequence[str]) -> NoReturn:
    """Signals that Python ignores are a server's own again: they would stay ignored in what this process becomes."""
    sys.stdout.flush()
    sys.stderr.flush()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started ({error.strerror}); give the server's command after --") from None
