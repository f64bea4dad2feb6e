"""What one visit brings home, and what may be special about how a call is timed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from backends.timing.pace import Pace


@dataclass(frozen=True)
class Sampled:
    """``us``: device microseconds a launch, one value a sample; ``row_us``: likewise as launched, one value a row. The rest as in
    `backends.measured.Visit`."""

    us: tuple[float, ...]
    served_us: float | None = None
    sm_clock_mhz: float | None = None
    row_us: tuple[float, ...] = ()


@dataclass(frozen=True)
class Manner:
    """``spaced``: another small kernel stands between two recorded launches, and its own time is taken off. ``slowed``: so many
    further launches as a share of the others, which are not counted as such: a slowdown of known size. ``fewest`` launches a sample
    has at least, since those that it is compared with need so many."""

    spaced: bool = False
    slowed: float = 0.0
    fewest: int = 1

    def extra(self, launches: int) -> int:
        """Launches beside ``launches`` that are counted."""
        return round(launches * self.slowed)

    @property
    def least(self) -> int:
        """Launches of a sample: enough to be slowed by so small a share."""
        return max(self.fewest, self._step)

    def whole(self, pace: Pace) -> Pace:
        """With a few launches more where only then the slowdown is just its share."""
        return replace(pace, launches=-(-pace.launches // self._step) * self._step)

    @property
    def _step(self) -> int:
        return ceil(1 / self.slowed) if self.slowed else 1


PLAIN = Manner()
