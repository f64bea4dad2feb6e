"""Whether the pin can be written, asked before anything is measured for it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from store.errors import PinError
from store.pin_files import read_pin
from tuner.errors import UsageError


def refuse_unwritable(path: Path) -> None:
    """Raises `UsageError` when the pin's files could not be written at ``path`` (its folders may still be missing), and
    `NewerSchema` when a pin of a newer attnpin would be lost there."""
    if path.is_dir():
        raise UsageError(f"pin.path={path} is a folder; name a file in it, such as {path / 'pin.yaml'}")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            f"pin.path={path} cannot be written: {folder} is {'read-only' if folder.is_dir() else 'no folder'}; choose another path"
        )
    with suppress(PinError):  # anything else there is written anew
        read_pin(path)
