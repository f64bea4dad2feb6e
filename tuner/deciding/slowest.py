"""A server of several ranks waits for its slowest: of each arm the time on the board where it takes longest counts. Pure.

With n_b and o_b the mean ln times of a new and an old arm on board b, it feels max n_b - max o_b. That lies between n_b - o_b on the
board where the old one is slowest and on that where the new one is, since neither maximum is below any of its terms. Both of these are
differences inside processes, in which what all arms of a board or of a process share cancels; so they bound it, not the boards' own means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from store.decision import Interval
from tuner.arithmetic.statistics import interval


@dataclass(frozen=True)
class InProcess:
    """Two arms in one process on ``board``: ``difference`` = ln(new/old), ``new`` = ln of the new one's time."""

    board: str | None
    difference: float
    new: float

    @property
    def old(self) -> float:
        return self.new - self.difference


Boards = dict[str | None, list[InProcess]]


def by_board(found: Iterable[InProcess]) -> Boards:
    boards: Boards = {}
    for each in found:
        boards.setdefault(each.board, []).append(each)
    return boards


def slowest_ratio(found: Sequence[InProcess], earlier: Iterable[InProcess], confidence: float, sigma_floor: float) -> Interval | None:
    """new/old as a server that waits for the slowest board feels it. ``earlier``: processes that tell how much differences scatter, not
    where they lie; so do those of the other boards, each about its own board's mean."""
    if not found:
        return None
    boards, old, new = by_board(found), slowest(found, of_new=False), slowest(found)
    least, most = (_interval(_on(board, found, earlier), confidence, sigma_floor) for board in (old, new))
    if least is None or most is None:
        return None
    felt = fmean(one.new for one in boards[new]) - fmean(one.old for one in boards[old])
    return Interval(math.exp(felt), least.low, most.high, confidence, len(found))


def _interval(groups: tuple[Sequence[float], ...], confidence: float, sigma_floor: float) -> Interval | None:
    differences, *also = groups
    return interval(differences, confidence, sigma_floor, *also)


def slowest(found: Iterable[InProcess], of_new: bool = True) -> str | None:
    """The board on which the new arm, or the old one, takes longest."""
    boards = by_board(found)
    return max(boards, key=lambda board: fmean(one.new if of_new else one.old for one in boards[board]))


def sample(found: Sequence[InProcess]) -> tuple[Sequence[float], ...]:
    """The differences on the board where the new arm is slowest, then those of each other board."""
    return _on(slowest(found), found, ()) if found else ((),)


def _on(board: str | None, found: Iterable[InProcess], earlier: Iterable[InProcess]) -> tuple[Sequence[float], ...]:
    boards = by_board(found)
    others = [each for name, each in boards.items() if name != board]
    return tuple([one.difference for one in group] for group in (boards[board], *others, *by_board(earlier).values()))
