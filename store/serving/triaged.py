"""What may be wrong with a running server: causes in order, each with what speaks for it and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from store.serving.verified import Quote, Verified
from store.verdicts.checked import Checked
from store.verdicts.verdict import Verdict


class Blame(str, Enum):
    ATTENTION = "attention"
    SERVING = "how it is served"  # not as it was measured: no number of the pin is about it
    ELSEWHERE = "not attention"
    OPEN = "open"


class Ground(str, Enum):
    """What a cause rests on, the surest first."""

    MEASURED = "measured"  # times of attention then and now, by the screen or as somebody states them
    SAID = "said"  # by the engine of itself, or recorded of just these versions
    SEEN = "seen"  # in the lines of the log
    MOVED = "moved"  # something is not as it was, and nobody knows what that does
    NOTHING = "nothing"


class Kind(str, Enum):
    OTHER_BOARD = "another board"
    NOT_AS_PINNED = "not what was pinned"
    GRAPHS_OFF = "decode without CUDA graphs"
    OTHER_QUESTION = "another server than the pin's"
    WRONG = "wrong answers"
    REFUSED = "the pin's flags"
    KNOWN_BAD = "a release that is known to be slow"
    LAUNCHES = "launches from the host"
    DISPATCH = "other kernels under the same name"
    GRAPH_PENALTY = "slower inside a graph than outside"
    FEW_BLOCKS = "few processors of the GPU at work"
    ATTENTION = "attention's kernels"
    OTHER_PART = "another part of the step"
    OVERTAKEN = "another arm is faster"
    RIVAL = "a backend that does not serve"
    KV_POOL = "the KV pool is full"
    QUEUE = "requests wait"
    GRAPHS_MISSED = "decode steps that no graph was captured for"
    PREFILLS = "prefills between decode steps"
    TRAFFIC = "traffic that the pin was not measured for"
    SMALL_SHARE = "attention is too small a part of the step"
    POSSIBLY_BAD = "a release that may be slow here"
    CHANGED = "something changed under the pin"
    UNEXPLAINED = "slower, and nothing here says why"
    UNKNOWN = "too little is known"
    NOTHING = "nothing against attention"


@dataclass(frozen=True)
class Proof:
    """A sentence with its numbers; ``said`` is the line it is read from."""

    words: str
    said: Quote | None = None


@dataclass(frozen=True)
class Cause:
    """``next``: commands and imperative clauses, the nearest first."""

    kind: Kind
    blame: Blame
    ground: Ground
    sentence: str
    proofs: tuple[Proof, ...]
    next: tuple[str, ...]


@dataclass(frozen=True)
class Pace:
    """Time a token of each request in milliseconds, prefills between included: medians of lines with ``batch`` (least, most) requests
    at once and contexts alike, now and before. ``restarted``: before the newest start, else earlier in it."""

    batch: tuple[int, int]
    now_ms: float
    now_lines: int
    before_ms: float
    before_lines: int
    restarted: bool

    @property
    def ratio(self) -> float:
        return self.now_ms / self.before_ms


@dataclass(frozen=True)
class Load:
    """The last ``lines`` decode lines of the newest starts, of ``workers`` schedulers; medians, ``queued`` of requests that wait, ``usage``
    of the KV pool as a share. ``outside``: (batch, lines) of those that replayed no graph, of ``told`` that say. ``prefills`` is a mean a
    decode line, ``quiet_ms`` and ``busy_ms`` a token of lines without and with prefills before them, of like batch and contexts.
    ``retracted`` requests lost their place in these lines. None = no line says so, or too few."""

    lines: int
    workers: int
    batch: int
    most: int
    tokens_per_request: int | None
    queued: int | None
    waiting_lines: int
    usage: float | None
    full_lines: int
    token_ms: float | None
    outside: tuple[tuple[int, int], ...]
    told: int
    prefills: float
    quiet_ms: float | None
    busy_ms: float | None
    busy_lines: int
    retracted: int
    retraction: Quote | None
    last: Quote
    pace: Pace | None = None


@dataclass(frozen=True)
class Triaged:
    """``causes`` in order, at least one. ``traffic`` is what the pin was measured for, in words. ``final`` False: another answer
    follows, ``notes`` say why. ``exit_code`` is the command's."""

    sentence: str
    causes: tuple[Cause, ...]
    traffic: str
    verified: Verified
    load: Load | None
    fast: Verdict | None
    screened: Checked | None
    notes: tuple[str, ...]
    exit_code: int
    final: bool = True
