"""What many scenarios would cost: each with where its time is known from, and all of them on so many boards."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Ground(str, Enum):
    """What a time is known from."""

    MEASURED = "measured"  # finished runs of the same scenario on such a board
    SCALED = "scaled"  # the roofline, times what it was short of in other scenarios' runs on such a board
    ROOFLINE = "roofline"  # nothing was stored of such a board
    NOTHING = "nothing"  # it cannot be begun as it is asked for


@dataclass(frozen=True)
class Cost:
    """Of one scenario, known by its ``overrides``: ``seconds`` of one board, None = nothing would be measured. ``why`` is one sentence."""

    overrides: tuple[str, ...]
    seconds: float | None
    ground: Ground
    why: str


@dataclass(frozen=True)
class SweepCost:
    """``walls``: (boards, seconds until the last scenario ends), a scenario at a time on each board."""

    costs: tuple[Cost, ...]
    walls: tuple[tuple[int, float], ...]

    @property
    def board_seconds(self) -> float:
        return sum(cost.seconds for cost in self.costs if cost.seconds is not None)
