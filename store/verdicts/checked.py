"""What a check that measures found: what its answer rests on, every number of it, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from store.verdicts.verdict import Verdict
from store.verdicts.version_verdict import Broken, Dispatch, Row, VersionVerdict


class Answer(str, Enum):
    HOLDS = "holds"  # nothing that the pin rests on was touched
    EQUIVALENT = "equivalent"
    IMPROVED = "improved"
    STALE = "stale"  # what is served is no slower, and today something else would be pinned
    REGRESSED = "regressed"
    SUSPECT = "suspect"
    INCONCLUSIVE = "inconclusive"
    WRONG = "wrong answers"
    CHANGED = "changed"  # what was asked is no longer what the pin answers
    REFUSED = "refused"  # a pinned flag, by the engine that is there now
    INCOMPARABLE = "incomparable"  # another board
    UNCHECKED = "not checked"  # one of several pins, whose check broke off


class Ground(str, Enum):
    """What an answer rests on, the cheapest first."""

    NOTHING_MOVED = "nothing was measured"
    SAME_CODE = "the same machine code"
    STORED_TIMES = "today's times against the pin's"
    SIDE_BY_SIDE = "both versions in one sitting"


@dataclass(frozen=True)
class Glance:
    """A cell's time in a probe then and now: alone in one process each, so no verdict."""

    arm: str
    cell: str
    old_us: float
    new_us: float


class Action(str, Enum):
    KEEP = "keep"
    SWITCH = "switch"
    UNSET = "unset"
    NONE = "none"  # nothing is decided: the default was not measured, or nothing but what got slower


@dataclass(frozen=True)
class Next:
    """What today's rounds would pin. ``flags`` are long options without dashes; ``because`` is a line. ``alone``: nothing but what is
    served was measured, so they do not say what else to serve with."""

    action: Action
    flags: tuple[tuple[str, str], ...]
    because: str
    alone: bool = False


@dataclass(frozen=True)
class Checked:
    """``fast`` says what changed. ``run`` holds what was measured, None = nothing was. ``served`` and ``rivals``: today's times of what
    was touched against those of the pin's evidence, ratios less what untouched arms moved by. ``confirmed``: both versions in one
    sitting; ``unconfirmed``: the sentence why there was none although it was called for. ``scope`` names what the answer holds for.
    ``ways_out`` are imperative clauses, the first the nearest. ``written``: the pin's files were written anew."""

    answer: Answer
    sentence: str
    ground: Ground
    fast: Verdict
    scope: str
    run: str | None = None
    dispatches: tuple[Dispatch, ...] = ()
    glance: Glance | None = None
    served: tuple[Row, ...] = ()
    rivals: tuple[Row, ...] = ()
    broken: tuple[Broken, ...] = ()
    confirmed: VersionVerdict | None = None
    unconfirmed: str | None = None
    next: Next | None = None
    notes: tuple[str, ...] = ()
    ways_out: tuple[str, ...] = ()
    written: bool = False
    exit_code: int = 0
    pin: str | None = None
