"""The pin of a file as it is exported and launched: its flags, and what they leave to the engine."""

from __future__ import annotations

from pathlib import Path

from store.errors import StoreError
from store.pins.pin import Pin
from store.pins.pin_files import evidence_of, read_pin
from tuner.checking.edited import refuse_edited
from tuner.errors import UsageError
from tuner.exporting.companions import completed


def exportable(path: Path, engine: str, as_hint: bool = False) -> tuple[Pin, tuple[str, ...]]:
    """The pin at ``path`` for a server of ``engine``, and sentences for the user. ``as_hint``: to be read, not to be served with. Raises
    `PinError` or `NewerSchema`; without ``as_hint`` also as `refuse_edited`."""
    pin = read_pin(path)
    whole = pin.engine == engine and bool(pin.flags)
    try:
        run = evidence_of(path, pin)
    except StoreError as error:
        return pin, (f"without its evidence a pin gives only the flags that it sets itself: {error}",) if whole else ()
    try:
        refuse_edited(pin, run)
    except UsageError as error:
        if not as_hint:
            raise
        return pin, (str(error),)
    return completed(pin, run) if whole else (pin, ())
