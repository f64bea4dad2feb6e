"""The two servers that are compared, as commands. Pure but for the configuration file that a command may name."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from reports import wording
from reports.page import one_line
from store.pins.pin import Pin
from tuner.engines.benchmarks import Benchmarks
from tuner.engines.choices import Choices
from tuner.errors import UsageError
from tuner.launching.interpreter import interpreter_of
from tuner.launching.written import value_of, written

TLS = ("ssl-keyfile", "ssl-certfile")


@dataclass(frozen=True)
class Sides:
    """``command`` is the user's. ``flags`` are the pin's, ``against`` what it is held against; both as words. ``variables`` of the
    environment are the pin's."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    against: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()

    def environment(self, pinned: bool) -> dict[str, str]:
        return dict(self.variables) if pinned else {}

    def added(self, pinned: bool) -> tuple[str, ...]:
        return self.flags if pinned else self.against

    def given(self, pinned: bool) -> tuple[str, ...]:
        """All that a side has beside the command, as a shell would take it."""
        return (*(f"{name}={value}" for name, value in self.environment(pinned).items()), *self.added(pinned))

    def started(self, pinned: bool) -> tuple[str, ...]:
        return (*self.command, *self.added(pinned))


def sides(pin: Pin, whole: Pin, command: Sequence[str], against: str | None, choices: Choices) -> Sides:
    """``whole`` is the pin with what it leaves to the engine written out, of which the command may set a part itself. Raises `UsageError`
    where it makes the choice of a side, so that no side could make another, or starts nothing."""
    if shutil.which(command[0]) is None or any("\0" in word for word in command):
        raise UsageError(f"{shlex.quote(one_line(command[0]))} cannot be started (no such program); give the server's command after --")
    if (option := next((each for each in TLS if value_of(command, each)), None)) is not None:
        raise UsageError(f"CMD serves over TLS (--{option}), and confirm asks it from this machine over plain HTTP; leave that out")
    here = written(command, choices)
    own = next((each for each in here if each.name in {*dict(pin.flags), *_names(against)}), None)
    if own is not None:
        raise UsageError(f"CMD sets {own.option} itself ({own.place}); leave it out, since confirm sets it on one side alone")
    theirs = {each.name for each in here}
    flags = tuple(word for name, value in whole.flags if name not in theirs for word in choices.words(name, value))
    other = words_of(against or "", "--against")
    bare = next((each for each in written(other, choices) if each.name not in choices.switches and (each.value or "-")[0] == "-"), None)
    if bare is not None:
        raise UsageError(f'--against {bare.option} names no value; write both in one word, as in --against "{bare.option} VALUE"')
    if flags == other and not pin.variables:
        raise UsageError(
            f"both sides would be the same server, since the pin sets no flag ({wording.unset(pin.unset)}); name what to hold it against, "
            'as in --against "--attention-backend triton"'
        )
    return Sides(tuple(command), flags, other, pin.variables)


def _names(against: str | None) -> set[str]:
    return {word.lstrip("-").partition("=")[0] for word in words_of(against or "", "--against") if word.startswith("-")}


def words_of(text: str, option: str) -> tuple[str, ...]:
    """As a shell takes them. Raises `UsageError` for a quotation without an end."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{option} {one_line(text)} is no list of words ({error}); write it as for a shell") from None


def python_of(command: Sequence[str], benchmarks: Benchmarks, said: str | None) -> tuple[str, ...]:
    """How the engine's Python is started: what stands before "-m MODULE", or what the server's program names in its first line."""
    if said and (words := words_of(said, "--python")):
        return words
    split = _split(command, benchmarks)
    before = command[: split[0]] if split else ()
    if split is not None and command[split[0]] == "-m":
        return tuple(before)
    found = interpreter_of(command[len(before) :])
    if found is None:
        raise UsageError(f"{command[len(before)]} does not show which Python runs the engine's benchmark; name it with --python")
    return (*before, found)


def arguments_of(command: Sequence[str], benchmarks: Benchmarks) -> tuple[str, ...]:
    """The server's own arguments, as another program of the engine takes them. Raises `UsageError` for a command that is not understood."""
    split = _split(command, benchmarks)
    if split is None:
        raise UsageError(
            f"{shlex.join(command[:4])} ... is no way to start {benchmarks.PROGRAM} that attnpin knows; leave --engine-bench out"
        )
    rest = list(command[split[1] :])
    return (benchmarks.MODEL, *rest) if rest and not rest[0].startswith("-") else tuple(rest)


def _split(command: Sequence[str], benchmarks: Benchmarks) -> tuple[int, int] | None:
    """Where the words that start the server begin, and where its arguments do."""
    for index, word in enumerate(command[:-1]):
        following = command[index + 1]
        if word == "-m" and following in benchmarks.MODULES:
            return index, index + 2
        if word.rpartition("/")[2] == benchmarks.PROGRAM and following == "serve":
            return index, index + 2
    return None
