"""Why a rule of an engine chooses as it does, where its authors recorded that as something to be measured again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.cell import Phase


class Expected(str, Enum):
    """What a reason says of the backend that was not chosen."""

    SLOWER = "slower"
    WRONG = "wrong"  # its answers are


@dataclass(frozen=True)
class Shape:
    """Requests of one length: decoding behind ``tokens`` keys each, or fresh prompts of ``tokens``."""

    phase: Phase
    requests: int
    tokens: int


@dataclass(frozen=True)
class ReasonTest:
    """What must be seen if the reason is still true: in each of ``phases`` the backend ``against`` takes at least 1 + ``slower_by``
    times the time of ``chosen``, or answers wrongly. Seen on ``shapes`` of those phases; where there are none, on the scenario's own
    cells, weighted. ``sm``: compute capabilities the reason was recorded for. ``least_group``: query heads per KV head on a rank."""

    phases: tuple[Phase, ...]
    chosen: str
    against: str
    sm: tuple[int, ...]
    expected: Expected = Expected.SLOWER
    slower_by: float = 0.0
    shapes: tuple[Shape, ...] = ()
    least_group: int = 1


@dataclass(frozen=True)
class RecordedReason:
    """``recorded_because`` completes "... was chosen because". Releases of ``package`` (an import name) from ``first_bad`` on and before
    ``first_good`` have the fault ``symptom``; None = no release is known, and without a package no release is to blame.
    ``avoided_since``: the engine's release whose own calls go round the fault. ``sources``: links, or file and function."""

    recorded_because: str
    sources: tuple[str, ...]
    test: ReasonTest
    package: str | None = None
    symptom: str | None = None
    first_bad: str | None = None
    first_good: str | None = None
    avoided_since: str | None = None


@dataclass(frozen=True)
class ReasonHere:
    """A reason beside what is installed where the arms run. ``installed`` None = nobody looked, or it is not there; ``affected``: whether
    that release has the recorded fault, None = cannot be said."""

    reason: RecordedReason
    installed: str | None
    affected: bool | None
