"""What became of a pin from one version of it to the next: flags, reasons, what it stands on, times."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from store.verdicts.verdict import Change
from store.verdicts.version_verdict import Row


class Turn(str, Enum):
    """What somebody who deploys the newer one has to do."""

    SAME = "same flags"
    OTHER = "other flags"
    ENGINE = "another engine"


@dataclass(frozen=True)
class Plain:
    """A time of then and one of now without a judgement, and why there is none."""

    arm: str
    cell: str
    old_us: float
    new_us: float
    why: str


@dataclass(frozen=True)
class PinDiff:
    """``old`` and ``new`` name the two pins. ``flags``: those that one of them sets otherwise; ``kept`` those that both set alike.
    ``reasons``: why a flag is set or unset, and why the default is what it is. ``moved``: board, versions and variables under the pin, with
    the arms each touches; ``asked``: what was asked for (model, traffic, settings). ``said``: lines of the justification that read
    otherwise. ``arms``: backends that came, went, or ended otherwise. ``judged``: the newer times against the older ones, ``plain``: those
    beside them. ``uncompared``: sentences, each on something that the two cannot be compared in; ``notes``: what limits the times."""

    turn: Turn
    sentence: str
    old: str
    new: str
    flags: tuple[Change, ...]
    kept: tuple[tuple[str, str], ...]
    reasons: tuple[Change, ...]
    moved: tuple[Change, ...]
    asked: tuple[Change, ...]
    said: tuple[Change, ...]
    arms: tuple[Change, ...]
    judged: tuple[Row, ...]
    plain: tuple[Plain, ...]
    uncompared: tuple[str, ...]
    notes: tuple[str, ...]
