"""The pin of a file as it is exported and launched: its flags, and what they leave to the engine."""

from __future__ import annotations

from pathlib import Path

from store.errors import StoreError
from store.pin import Pin
from store.pin_files import evidence_of, read_pin
from tuner.exporting.companions import completed


def exportable(path: Path, engine: str) -> tuple[Pin, tuple[str, ...]]:
    """The pin at ``path`` for a server of ``engine``, and sentences for the user. Raises `PinError` or `NewerSchema`."""
    pin = read_pin(path)
    if pin.engine != engine or not pin.flags:
        return pin, ()
    try:
        run = evidence_of(path, pin)
    except StoreError as error:
        return pin, (f"without its evidence a pin gives only the flags that it sets itself: {error}",)
    return completed(pin, run)
