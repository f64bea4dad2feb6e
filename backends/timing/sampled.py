"""What one visit brings home, and what may be special about how a call is timed."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Sampled:
    """``us``: device microseconds a launch, one value a sample. The rest as in `backends.measured.Visit`."""

    us: tuple[float, ...]
    served_us: float | None = None
    sm_clock_mhz: float | None = None


@dataclass(frozen=True)
class Manner:
    """``spaced``: another small kernel stands between two recorded launches, and its own time is taken off. ``slowed``: so many
    further launches as a share of the others, which are not counted as such: a slowdown of known size."""

    spaced: bool = False
    slowed: float = 0.0

    def extra(self, launches: int) -> int:
        """Launches beside ``launches`` that are counted."""
        return round(launches * self.slowed)

    @property
    def least(self) -> int:
        """Launches of a sample that can be slowed by so small a share."""
        return ceil(1 / self.slowed) if self.slowed else 1


PLAIN = Manner()
