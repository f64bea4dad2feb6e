"""What every executor does: run one scenario to its end, somewhere, and bring back what its `attnpin tune --json` said.

The same command runs everywhere, stores its rounds itself and holds its device's lock, so rows and decisions do not depend on
where it ran. An executor decides on the place alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Say = Callable[[str], None]


@dataclass(frozen=True)
class Task:
    """One scenario. ``number`` counts from 1; ``overrides`` are those of the scenario and where its pin goes."""

    number: int
    name: str
    overrides: tuple[str, ...]
    config_dir: str | None = None


@dataclass(frozen=True)
class Done:
    """``line``: the JSON that the command printed, None where it came to none; ``last``: what it said last on stderr; ``ran``: within the
    call that brings it, whose time is then its own."""

    exit_code: int
    line: str | None
    last: str
    ran: bool = True


class Executor(Protocol):
    """``places``: how many tasks it runs at a time."""

    @property
    def places(self) -> int: ...

    def run(self, task: Task, place: int, say: Say) -> Done:
        """Blocks until the task has ended. No two run in one ``place`` at a time."""

    def interrupt(self) -> None:
        """Let what runs end as after Ctrl-C, from another thread."""


def command_of(task: Task, more: Sequence[str] = ()) -> list[str]:
    """`attnpin tune` for ``task``, by this very Python; ``more`` overrides of the place it runs in."""
    return [*program(), *arguments_of(task, more)]


def arguments_of(task: Task, more: Sequence[str] = ()) -> list[str]:
    """The same without what runs it."""
    folder = [] if task.config_dir is None else ["--config-dir", str(Path(task.config_dir).absolute())]
    return ["tune", *task.overrides, *more, "--json", *folder]


def program(module: str = "tuner") -> list[str]:
    """This attnpin, or ``module`` of it, also out of a single file."""
    if packed := os.environ.get("PEX"):
        return [sys.executable, packed] if module == "tuner" else ["env", f"PEX_MODULE={module}", sys.executable, packed]
    return [sys.executable, "-P", "-m", module]
