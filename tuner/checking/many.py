"""Many pins, one after the other: what stops the check of one is that one's answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from store.verdicts.checked import Answer, Checked, Ground
from store.verdicts.verdict import Status, Verdict
from tuner.command_line.boundary import exit_code, say, sentence

Found = TypeVar("Found", Checked, Verdict)


def each_of(paths: Sequence[Path], check: Callable[[Path], Found], failed: Callable[[str, int], Found]) -> Iterator[Found]:
    """The answer on each pin, by name, as soon as it is there. A single pin's failure comes through."""
    if len(paths) == 1:
        yield check(paths[0])
        return
    for number, path in enumerate(paths, 1):
        say(f"pin {number} of {len(paths)}, {path}")
        try:
            found = check(path)
        except Exception as error:
            found = failed(sentence(error), exit_code(error))
        yield replace(found, pin=str(path))


def unchecked(why: str, code: int) -> Checked:
    return Checked(Answer.UNCHECKED, why, Ground.NOTHING_MOVED, unreadable(why, code), "nothing", exit_code=code)


def unreadable(why: str, code: int) -> Verdict:
    return Verdict(Status.UNREADABLE, (), why, code)
