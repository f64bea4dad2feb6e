"""Many scenarios in one go: what each came to, kept in an index beside their pins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.wire import WireError, from_plain, to_plain
from store.errors import NewerSchema, StoreError
from store.files import write_together

SWEEP_SCHEMA = 1
INDEX = "index.json"
SETTLED = (0, 5)  # exit codes of a scenario that need not be measured again: decided, or decided that answers are wrong


@dataclass(frozen=True)
class Ending:
    """How a job ended. ``said``: the decision, or why there is none, in a sentence; ``run``, ``board`` and ``ruling`` are None where
    it did not come so far; ``pin`` is the file written."""

    exit_code: int
    said: str
    run: str | None = None
    board: str | None = None
    ruling: str | None = None
    flags: tuple[tuple[str, str], ...] = ()
    effect: str = ""
    pin: str | None = None

    @property
    def settled(self) -> bool:
        return self.exit_code in SETTLED


@dataclass(frozen=True)
class Entry:
    """One scenario: its overrides, and how it ended (None = not yet) after how many seconds of wall time."""

    overrides: tuple[str, ...]
    ending: Ending | None = None
    seconds: float | None = None

    @property
    def settled(self) -> bool:
        return self.ending is not None and self.ending.settled


@dataclass(frozen=True)
class Sweep:
    """``begun`` is ISO 8601 UTC; entries stand in the order they were asked for."""

    command: str
    begun: str
    entries: tuple[Entry, ...]

    @property
    def settled(self) -> bool:
        return all(entry.settled for entry in self.entries)


def read_sweep(folder: Path) -> Sweep | None:
    """The sweep whose index lies in ``folder``; None where there is none, or something else of that name.

    Raises `NewerSchema` where a newer attnpin wrote it.
    """
    path = folder / INDEX
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        schema = plain["attnpin_sweep"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if schema != SWEEP_SCHEMA:
        raise NewerSchema(
            f"{path} has schema {schema} and this attnpin knows {SWEEP_SCHEMA}; install a newer attnpin or move the file away"
        )
    try:
        return from_plain(Sweep, plain["sweep"])
    except (WireError, KeyError) as error:
        raise StoreError(f"{path} is damaged ({error}); move it away and run the same command again") from error


def write_sweep(folder: Path, sweep: Sweep, pages: Sequence[tuple[str, str]] = ()) -> None:
    """The index, and ``pages`` (name, text) made from it, each whole or not at all. Raises `StoreError`."""
    plain = {"attnpin_sweep": SWEEP_SCHEMA, "sweep": to_plain(sweep)}
    files = [(folder / INDEX, json.dumps(plain, indent=2).encode() + b"\n"), *((folder / name, text.encode()) for name, text in pages)]
    write_together(files)
