"""Which of a pin's flags a command line is given, and what is said of the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from reports import wording
from store.pins.pin import Pin
from tuner.engines.choices import BACKEND, Choices
from tuner.errors import UsageError
from tuner.launching.written import Written

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Additions:
    """``words`` go to the end of the command, ``variables`` into its environment; ``said`` are sentences for the user."""

    words: tuple[str, ...]
    said: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()


def additions(pin: Pin, here: Sequence[Written], choices: Choices, environment: Mapping[str, str] = NOTHING) -> Additions:
    """The flags of one choice go together: beside one split flag of the user's the other would make a pair that nobody measured. What
    was pinned with other backends than the user's, as a page size, stays away too. Raises `UsageError` for a flag that no run pins."""
    if not pin.flags:
        return Additions((), (f"the pin sets no flag: {wording.unset(pin.unset)}",))
    given, said = list[tuple[str, str]](), list[str]()
    for name, value in pin.flags:
        if name not in choices.options:
            raise UsageError(f"pin {pin.run} sets --{name} {value}, which attnpin does not; write it again with attnpin tune")
        against = _against(name, pin, here, choices)
        if against is None:
            given.append((name, value))
        else:
            said.append(f"--{name} {value} is not added: {against}")
    words = tuple(word for name, value in given for word in choices.words(name, value))
    added = (f"added {' '.join(words)}",) if words else ()
    variables, of_variables = _variables(pin, environment)
    return Additions(words, (*added, *said, *of_variables), variables)


def _variables(pin: Pin, environment: Mapping[str, str]) -> tuple[tuple[tuple[str, str], ...], Iterator[str]]:
    """Those that the environment lacks, and a sentence for each; one that is there is the user's and stays."""
    lacking = tuple((name, value) for name, value in pin.variables if name not in environment)
    yours = ((name, environment[name]) for name, _ in pin.variables if name in environment)
    said = (f"{name}={value} is yours and goes before the pin" for name, value in yours)
    return lacking, chain((f"set {name}={value} in its environment" for name, value in lacking), said)


def _against(name: str, pin: Pin, here: Sequence[Written], choices: Choices) -> str | None:
    choice = choices.options[name]
    own = next((each for each in here if each.choice == choice), None)
    if own is not None:
        same = next((f", as the pin has it (in {each.place})" for each in _same(name, pin, here)), None)
        return _words(own) + (same or f"; it goes before the pin, whose evidence is not about it (in {own.place})")
    others = [each for each in here if each.choice == BACKEND]
    if choice != BACKEND and others and not _all_pinned(others, pin, choices):
        return f"it was measured with the pinned backends, and {_words(others[0])}"
    return None


def _same(name: str, pin: Pin, here: Sequence[Written]) -> Iterator[Written]:
    value = dict(pin.flags)[name]
    return (each for each in here if each.name == name and _alike(each.value, value))


def _all_pinned(others: Sequence[Written], pin: Pin, choices: Choices) -> bool:
    """Whether the user's backends are the pin's own, flag by flag."""
    pinned = {(name, value.lower()) for name, value in pin.flags if choices.options.get(name) == BACKEND}
    return {(each.name, (each.value or "").lower()) for each in others} == pinned


def _alike(one: str | None, other: str) -> bool:
    return (one or "").lower() == other.lower()


def _words(each: Written) -> str:
    return f"{each.option} {each.value or ''}".rstrip() + " is yours"
