"""How far sittings of the same versions are apart, beyond what the processes inside them explain. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from tests.bench.sittings.occasions import Occasions
from tuner.verdicts.session import SessionNoise, session_noise


def between(pairs: Sequence[Occasions], corrected: bool) -> float:
    """What one sitting adds to ln time, as an sd over all pairs and cells; there is at least one pair."""
    squares, within = _squares(pairs, corrected)
    return math.sqrt(max(fmean(squares) - fmean(within), 0.0) / 2)


def upper(pairs: Sequence[Occasions], corrected: bool) -> SessionNoise:
    """As the store would have it from these pairs; a pair counts once, however many cells it has."""
    squares, within = _squares(pairs, corrected)
    return session_noise(list(map(math.sqrt, squares)), within, all(pair.same_board for pair in pairs))


def _squares(pairs: Sequence[Occasions], corrected: bool) -> tuple[list[float], list[float]]:
    """Means over a pair's cells: of the squared difference, and of its variance inside the two sittings."""
    both = [(pair.corrected, pair.corrected_variance) if corrected else (pair.plain, pair.plain_variance) for pair in pairs]
    return [float(np.mean(d**2)) for d, _ in both], [float(np.mean(variance)) for _, variance in both]
