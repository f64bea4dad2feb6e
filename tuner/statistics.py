"""The arithmetic of a comparison: logarithms of times, fresh processes as the unit, t intervals with a floor.

A difference ``d`` is ln(new) - ln(old) inside one process; its exponential is the ratio new/old, above 1 is slower. What
all arms of a process share (clocks, temperature) cancels in it. What one arm alone caught in that process (placement,
autotuning) does not, so only fresh processes average it: neither visits nor replays ever count as independent samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, median, stdev

from scipy.special import stdtrit

from store.decision import Interval

POWER = 0.8  # of the minimum detectable effect: a difference of that size is found in four runs of five


def visit_value(sample_us: Sequence[float]) -> float:
    """ln of the median sample of one visit: a single spike moves it little, a repeated sample not at all."""
    return math.log(median(sample_us))


def process_mean(visits: Iterable[Sequence[float]]) -> float:
    """One arm on one cell in one process: the mean of its visits' values."""
    return fmean(visit_value(samples) for samples in visits)


def standard_error(differences: Sequence[float], sigma_floor: float) -> float:
    """max(s, sigma_floor / 2) / sqrt(P): calibrated noise is a floor, so that few lucky processes never look exact."""
    return max(stdev(differences), sigma_floor / 2) / math.sqrt(len(differences))


def interval(differences: Sequence[float], confidence: float, sigma_floor: float) -> Interval | None:
    """The ratio new/old with a two-sided t interval over processes; None below two, where nothing says how sure it is."""
    if len(differences) < 2:
        return None
    centre = fmean(differences)
    half = _quantile((1 + confidence) / 2, len(differences)) * standard_error(differences, sigma_floor)
    return Interval(math.exp(centre), math.exp(centre - half), math.exp(centre + half), confidence, len(differences))


def bonferroni(confidence: float, comparisons: int) -> float:
    """What each of ``comparisons`` intervals needs so that all hold together with ``confidence``."""
    return 1 - (1 - confidence) / max(1, comparisons)


def tied(differences: Sequence[float], margin: float, confidence: float, sigma_floor: float) -> bool:
    """Two one-sided tests: surely within a factor 1 + ``margin`` either way. A single process proves no tie.

    Each side is tested at ``confidence``, hence the interval of 2 confidence - 1; an intersection-union test needs no
    correction for its number of rivals (Schuirmann's TOST).
    """
    found = interval(differences, 2 * confidence - 1, sigma_floor)
    return found is not None and 1 / (1 + margin) < found.low and found.high < 1 + margin


def minimum_detectable(differences: Sequence[float], confidence: float, sigma_floor: float) -> float | None:
    """The smallest true difference, as a fraction, that an interval of this ``confidence`` keeps off 0 with `POWER`."""
    if len(differences) < 2:
        return None
    processes = len(differences)
    quantiles = _quantile((1 + confidence) / 2, processes) + _quantile(POWER, processes)
    return math.expm1(quantiles * standard_error(differences, sigma_floor))


def _quantile(probability: float, processes: int) -> float:
    return float(stdtrit(processes - 1, probability))
