"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from store.errors import Unreachable
from store.faults import file_fault


def write_together(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write all files beside their targets first, then rename them into place in the order given.

    Until the first rename nothing has changed, so a full disk or a read-only folder leaves what was there. A reader that
    must find them all opens the last one first. Raises `StoreError`.
    """
    targets = [(path.resolve(), content) for path, content in files]
    temporary = [path.with_name(f".{path.name}.{os.getpid()}.tmp") for path, _ in targets]
    try:
        for (path, content), part in zip(targets, temporary):
            _check_target(path)
            _write(part, content, path)
        for (path, _), part in zip(targets, temporary):
            _rename(part, path)
    finally:
        for part in temporary:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _check_target(path: Path) -> None:
    if path.is_dir():
        raise Unreachable(f"{path} is a folder; name a file")


def _write(part: Path, content: bytes, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise file_fault(str(path), error) from error


def _rename(part: Path, path: Path) -> None:
    try:
        part.replace(path)
    except OSError as error:
        raise file_fault(str(path), error) from error
