"""How far one whole sitting is off from another on the same kernels: noise that no number of processes inside a sitting shrinks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scipy.special import chdtri

FEWEST = 5  # pairs of sittings from which on their own spread counts
SAME_BOARD, OTHER_BOARD = 0.010, 0.025  # judgement, for fewer
ASSUMED_DF = 10
FLOOR = 0.003
UPPER = 0.8  # the estimate is inflated to its upper limit at this confidence


@dataclass(frozen=True)
class SessionNoise:
    """``sigma``: sd of what one sitting adds to ln time once corrections are made; ``df`` = how well it is known."""

    sigma: float
    df: float


def assumed(same_board: bool) -> SessionNoise:
    return SessionNoise(SAME_BOARD if same_board else OTHER_BOARD, ASSUMED_DF)


def session_noise(differences: Sequence[float], variances: Sequence[float], same_board: bool) -> SessionNoise:
    """From pairs of sittings that measured the same versions: corrected ``differences`` (ln), each with the variance that the
    processes inside its two sittings explain. A difference holds the noise of two sittings."""
    pairs = len(differences)
    if pairs < FEWEST:
        return assumed(same_board)
    between = (fmean(difference**2 for difference in differences) - fmean(variances)) / 2
    upper = math.sqrt(max(between, 0.0) * pairs / chdtri(pairs, UPPER))
    return SessionNoise(max(upper, FLOOR), pairs)
