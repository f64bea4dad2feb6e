"""Starts a server with a pin's flags: the story of `attnpin launch`. This process becomes the server."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NoReturn

from backends.simulated.world import is_simulated
from reports import wording
from reports.launchers.started import started
from reports.page import clean, one_line
from store.errors import StoreError
from store.pins.pin import Pin
from store.pins.pin_files import read_pin
from tuner.check import check_fast
from tuner.command_line.boundary import say
from tuner.engines.choices import Choices
from tuner.engines.lookup import choices_of
from tuner.errors import AttnpinError, Incomplete, UsageError
from tuner.exporting.exportable import exportable
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
    for name, value in added.variables:
        os.environ[name] = value
    become((*asked.command, *added.words))


def choices_for(pin: Pin, command: Sequence[str]) -> Choices:
    """The words of the pin's engine. Raises `UsageError` where the pin's flags cannot be given to ``command``."""
    if is_simulated(pin.valid_for.gpu):
        raise UsageError(f"this pin was made on {pin.valid_for.gpu}, which is no GPU that anything could serve on; tune on a real one")
    if PurePath(command[0]).name in SHELLS and any(word.startswith("-") and "c" in word for word in command[1:2]):
        raise UsageError(
            f"{command[0]} {command[1]} takes a whole script, to which no flag can be added; give the server's own words after --"
        )
    engine = started(command)
    if engine is not None and engine != pin.engine:
        raise UsageError(
            f"this pin belongs to {wording.engine(pin.engine)}, and the command starts {wording.engine(engine)}; give the command that "
            f"starts {wording.engine(pin.engine)}, or another pin"
        )
    try:
        return choices_of(pin.engine)
    except KeyError:
        raise UsageError(f"pin {pin.run} is of engine {pin.engine!r}, whose options this attnpin does not know") from None


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
    warned = [f"{wording.engine(pin.engine)} passes over {unread} without an error: write it as two words"] if unread else []
    if stale is not None:
        warned.append(f"the pin may no longer hold: {stale}")
    if stale is not None and asked.on_stale is OnStale.DEFAULT:
        return Additions((), (*warned, "the command is started as it is, without the pin's flags"))
    whole, left = exportable(asked.pin, pin.engine)
    found = additions(whole, written(asked.command, choices), choices, os.environ)
    return Additions(found.words, (*warned, *found.said, *_beside(pin, whole, found.words), *left), found.variables)


def _beside(pin: Pin, whole: Pin, words: Sequence[str]) -> Iterator[str]:
    """Why ``words`` hold flags of the ``whole`` that the pin does not set itself."""
    own, reasons = dict(pin.flags), dict(whole.because)
    added = (name for name, _ in whole.flags if name not in own and f"--{name}" in words)
    return (f"--{name} goes with the pin's own flags: {reasons[name]}" for name in added)


def become(command: Sequence[str]) -> NoReturn:
    """Signals that Python ignores are a server's own again: they would stay ignored in what this process becomes."""
    sys.stdout.flush()
    sys.stderr.flush()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except (OSError, ValueError) as error:  # an empty word, or one with a zero byte
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{shlex.quote(one_line(command[0]))} cannot be started ({why}); give the server's command after --") from None
