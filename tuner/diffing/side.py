"""One of the two pins: its file, and the run behind it where the evidence is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from store.errors import EvidenceError, NewerSchema
from store.pins.pin import Pin
from store.pins.pin_files import evidence_of, read_pin
from store.runs.run import Run
from tuner.checking.edited import refuse_edited


@dataclass(frozen=True)
class Side:
    """``missing``: why there is no run."""

    pin: Pin
    run: Run | None
    missing: str | None = None

    @property
    def name(self) -> str:
        return f"run {self.pin.run} of {self.pin.created[:10]}"


def read_side(path: Path) -> Side:
    """Raises `StoreError` for a pin that cannot be read, and as `refuse_edited`; one without its evidence can be compared in part."""
    pin = read_pin(path)
    try:
        run = evidence_of(path, pin)
    except (EvidenceError, NewerSchema) as error:
        return Side(pin, None, str(error))
    refuse_edited(pin, run)
    return Side(pin, run)
