"""Request lengths: draws that stand for a log-normal distribution, the same for the same seed."""

from __future__ import annotations

import math
from random import Random
from statistics import NormalDist

from store.traffic import Lengths

P95 = NormalDist().inv_cdf(0.95)
MEAN_POINTS = 2048


def strata(rng: Random, count: int) -> list[float]:
    """``count`` numbers in (0, 1), one from the middle half of each of ``count`` equal slices, in random order.

    So that a batch of four has a short, a long and two middling requests whatever the seed, and a batch of one is not a
    freak. Means over many draws stay those of the uniform distribution.
    """
    draws = [(index + 0.25 + 0.5 * rng.random()) / count for index in range(count)]
    rng.shuffle(draws)
    return draws


def length_at(lengths: Lengths, quantile: float, limit: int) -> int:
    """Tokens at a quantile of the log-normal with this median and 95th percentile, between 1 and ``limit``."""
    sigma = math.log(lengths.p95_tokens / lengths.median_tokens) / P95
    tokens = lengths.median_tokens * math.exp(sigma * NormalDist().inv_cdf(quantile))
    return max(1, min(limit, round(tokens)))


def whole_pages(tokens: int, page_size: int) -> int:
    """``tokens`` rounded up to pages: what a request really occupies."""
    return -(-tokens // page_size) * page_size


def mean_tokens(lengths: Lengths, limit: int) -> float:
    """Mean of the distribution with its tail cut at ``limit``."""
    return sum(length_at(lengths, (point + 0.5) / MEAN_POINTS, limit) for point in range(MEAN_POINTS)) / MEAN_POINTS
