"""What a check found: whether anything under a pin changed, what that touches, and what is known of what is there now."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(str, Enum):
    UNCHANGED = "unchanged"  # everything the pin rests on is as it was
    CHANGED = "changed"  # something is not; whether the pin still holds needs measuring
    INCOMPARABLE = "incomparable"  # another board or engine: the pin says nothing here
    REFUSED = "refused"  # the engine that is there now refuses a pinned flag, or serves something else with it
    KNOWN_BAD = "known bad"  # what is there now has a recorded fault on what the pin serves with
    UNREADABLE = "unreadable"  # this is no pin that can be judged


@dataclass(frozen=True)
class Change:
    """One thing that is not as it was. None = absent then, or now; ``touches`` names the arms or flags that depend on it."""

    what: str
    before: str | None
    after: str | None
    touches: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.before == self.after:
            raise ValueError(f"{self.what} is {self.before!r} before and after: no change")


class Bearing(str, Enum):
    """How near a known issue comes to what a pin serves with."""

    SERVED = "served"  # it is on the path that the pin serves by
    POSSIBLE = "possible"  # too little is known to tell
    RIVAL = "rival"  # on an arm that the pin was decided against: its side of the comparison is no longer what it was


@dataclass(frozen=True)
class KnownIssue:
    """A fault that somebody recorded of what is there now and that was not there when the pin was made. ``what`` names versions,
    ``why`` says what comes of it, ``ways_out`` are imperative clauses, ``sources`` links."""

    name: str
    bearing: Bearing
    what: str
    why: str
    ways_out: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Served:
    """What a server runs; ``kv_cache_dtype`` is a torch name where torch has one."""

    prefill: str
    decode: str
    page_size: int
    kv_cache_dtype: str


@dataclass(frozen=True)
class FlagsNow:
    """What the pin's flags (or their absence) come to in the engine that is there now. ``by`` says whose word it is, ``pinned`` is what
    the pin was decided for.

    One of three: ``now`` = what would be served, ``refusal`` = why a server would not start, ``unknown`` = why nobody can say.
    """

    by: str
    pinned: Served
    now: Served | None = None
    refusal: str | None = None
    unknown: str | None = None

    def __post_init__(self) -> None:
        if [self.now, self.refusal, self.unknown].count(None) != 2:
            raise ValueError("flags are served with something, or refused, or nobody can say")

    @property
    def hold(self) -> bool:
        """False where they are refused or come to something else; True also where nobody can say."""
        return self.unknown is not None or self.now == self.pinned


@dataclass(frozen=True)
class Verdict:
    """``sentence`` says it in one line, with what to do; ``exit_code`` is the command's. ``pin`` is the pin's file as it was named,
    ``about`` what it is a pin of, ``command`` the one to run next; None where a single pin was asked about, or nothing is to be done."""

    status: Status
    changes: tuple[Change, ...]
    sentence: str
    exit_code: int
    pin: str | None = None
    about: str | None = None
    flags: FlagsNow | None = None
    issues: tuple[KnownIssue, ...] = ()
    command: str | None = None

    def __post_init__(self) -> None:
        needed = {Status.UNCHANGED: False, Status.UNREADABLE: False, Status.CHANGED: True, Status.INCOMPARABLE: True}
        if needed.get(self.status, bool(self.changes)) is not bool(self.changes):
            raise ValueError(f"verdict {self.status.value!r} with {len(self.changes)} changes contradicts itself")
