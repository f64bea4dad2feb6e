"""What two stores exchange: whole records as plain values, each with the digest of what it says and where it came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum
from typing import Any

from store.digest import canonical

EXCHANGE_SCHEMA = 1
HEADER = "attnpin database"

Plain = dict[str, Any]


class Kind(str, Enum):
    RUN = "run"
    COMPARISON = "comparison"  # with both its runs
    CALIBRATION = "calibration"
    MACHINE_CODE = "machine code"


@dataclass(frozen=True)
class Item:
    """``value`` is JSON; ``origin`` says where the exporting store had it from, None = measured there. ``reduced``: out of a pin's
    evidence, with medians for samples and without places."""

    kind: Kind
    id: str
    value: Plain
    origin: Plain | None = None
    reduced: bool = False

    @property
    def sha256(self) -> str:
        return hashlib.sha256(canonical(self.value).encode()).hexdigest()


class Took(str, Enum):
    """What became of an item."""

    ADDED = "added"
    EXTENDED = "extended"  # it had more than the store's
    VOUCHED = "no longer foreign"
    THERE = "already there"
    BESIDE = "added beside another state of it"
    LEFT_OUT = "left out"  # it would have a say in decisions, and nobody vouched for it


@dataclass(frozen=True)
class Exchanged:
    """``counts``: how many of each kind, and what became of them; of an export, where nothing becomes of them, None."""

    source: str
    target: str
    counts: tuple[tuple[Kind, Took | None, int], ...]
    trusted: bool = False
