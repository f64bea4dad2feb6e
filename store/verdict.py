"""What a check found: whether anything under a pin changed, and what that touches."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(str, Enum):
    UNCHANGED = "unchanged"  # everything the pin rests on is as it was
    CHANGED = "changed"  # something is not; whether the pin still holds needs measuring
    INCOMPARABLE = "incomparable"  # another board or engine: the pin says nothing here


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


@dataclass(frozen=True)
class Verdict:
    """``sentence`` says it in one line, with what to do; ``exit_code`` is the command's."""

    status: Status
    changes: tuple[Change, ...]
    sentence: str
    exit_code: int

    def __post_init__(self) -> None:
        if (self.status is Status.UNCHANGED) != (not self.changes):
            raise ValueError(f"verdict {self.status.value!r} with {len(self.changes)} changes contradicts itself")
