"""Arms ranked twice on one board: are the best the same? Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from tests.bench.sittings.judge import differences
from tests.bench.sittings.sitting import Sitting
from tuner.arithmetic.statistics import surely_slower, tied
from tuner.calibrating.noise import noise_of, sigma_0

ALPHA = 0.05  # that the best is not among those called so, over all rivals of a cell
TIE = 0.01  # `decide.tie_margin`


@dataclass(frozen=True)
class Repeat:
    """The arms that may be the fastest on a cell, in two sittings of one board."""

    cell: str
    first: frozenset[str]
    second: frozenset[str]

    @property
    def same(self) -> bool:
        return self.first == self.second

    @property
    def overlapping(self) -> bool:
        return bool(self.first & self.second)


def repeats(sittings: Sequence[Sitting]) -> tuple[Repeat, ...]:
    """Every sitting with several arms beside the one before it with the same arms on the same board."""
    ordered = [each for each in sorted(sittings, key=lambda each: each.created) if len(each.originals) > 1]
    return tuple(_repeats(ordered))


def _repeats(ordered: Sequence[Sitting]) -> Iterator[Repeat]:
    for place, second in enumerate(ordered):
        before = (each for each in reversed(ordered[:place]) if (each.board, each.originals) == (second.board, second.originals))
        first = next(before, None)
        if first is not None:
            names = [arm.name for arm in second.originals]
            for cell in (cell for cell in first.timed(names) if cell in second.timed(names)):
                yield Repeat(cell, fastest(first, cell), fastest(second, cell))


def fastest(sitting: Sitting, cell: str) -> frozenset[str]:
    """Arms that are not surely slower than the one with the least mean, or surely by no more than `TIE`."""
    names = [arm.name for arm in sitting.originals]
    best = min(names, key=lambda name: fmean(us for us in sitting.ln_us(name, cell) if us is not None))
    noise = noise_of(sitting.arms, sitting.rounds)
    floor, alpha = sigma_0(noise) if noise else 0.0, ALPHA / (len(names) - 1)
    behind = {name: [d for d in differences(sitting, best, name, [cell])[:, 0].tolist() if not math.isnan(d)] for name in names}
    slower = {name for name, d in behind.items() if surely_slower(d, alpha, floor) and not tied(d, TIE, 1 - ALPHA, floor)}
    return frozenset(set(names) - slower)
