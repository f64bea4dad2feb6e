"""The starts of a question on disk, one a line, so that an interrupted confirmation goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from backends.wire import from_plain, to_plain
from backends.worker.lock import alone
from store.digest import canonical
from store.errors import StoreError
from store.file_faults import file_fault
from store.files import write_together
from store.serving.serving_run import ServedStart

NAME = "starts.jsonl"
SHORT = 12  # characters of a digest


def folder_of(out: Path, digest: str) -> Path:
    """The question's own, made if need be. Raises `StoreError`."""
    folder = out / digest[:SHORT]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_fault(str(folder), error) from error
    return folder


@contextmanager
def ours(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Two processes at one question take turns. Raises `StoreError`."""
    with ExitStack() as stack:
        try:
            stack.enter_context(alone(folder, f"process {os.getpid()}", lambda owner: say(f"waiting for {owner}, which measures the same")))
        except OSError as error:
            raise file_fault(str(folder), error) from error
        yield


def read(folder: Path) -> tuple[ServedStart, ...]:
    """Raises `StoreError` for a file that is not attnpin's; a last line that was cut short is none."""
    try:
        text = (folder / NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise file_fault(str(folder / NAME), error) from error
    whole = text[: text.rfind("\n") + 1].splitlines()
    try:
        return tuple(from_plain(ServedStart, json.loads(line)) for line in whole)
    except ValueError:
        raise StoreError(f"{NAME} in {folder.name} holds no starts of this attnpin; measure them again with --fresh") from None


def add(folder: Path, start: ServedStart) -> None:
    """Whatever was cut short before is cut off. Raises `StoreError`."""
    path, line = folder / NAME, canonical(to_plain(start)) + "\n"
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
    except OSError as error:
        raise file_fault(str(path), error) from error
    write_together([(path, (before[: before.rfind("\n") + 1] + line).encode())])


def forget(folder: Path) -> None:
    (folder / NAME).unlink(missing_ok=True)
