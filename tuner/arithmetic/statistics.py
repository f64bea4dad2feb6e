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
from store.verdicts.comparison import Comparison

POWER = 0.8  # of the minimum detectable effect: a difference of that size is found in four runs of five


def visit_value(sample_us: Sequence[float]) -> float:
    """ln of the median sample of one visit: a single spike moves it little, a repeated sample not at all."""
    return math.log(median(sample_us))


def process_mean(visits: Iterable[Sequence[float]]) -> float:
    """One arm on one cell in one process: the mean of its visits' values."""
    return fmean(visit_value(samples) for samples in visits)


def error_of_mean(values: Sequence[float]) -> float:
    """Standard error of the mean of ``values``; 0 below two."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def standard_error(differences: Sequence[float], sigma_floor: float, *also: Sequence[float]) -> float:
    """max(s, sigma_floor / 2) / sqrt(P): calibrated noise is a floor, so that few lucky processes never look exact.

    ``also``: groups of other processes that tell how much the same difference scatters, though not where it lies.
    """
    variance = sum(map(_squares, (differences, *also))) / freedom(differences, *also)
    return max(math.sqrt(variance), sigma_floor / 2) / math.sqrt(len(differences))


def _squares(values: Sequence[float]) -> float:
    """Sum of squared deviations from their own mean."""
    centre = fmean(values) if values else 0.0
    return sum((value - centre) ** 2 for value in values)


def freedom(differences: Sequence[float], *also: Sequence[float]) -> int:
    """Degrees of freedom of `standard_error`."""
    return sum(max(0, len(group) - 1) for group in (differences, *also))


def interval(differences: Sequence[float], confidence: float, sigma_floor: float, *also: Sequence[float]) -> Interval | None:
    """The ratio new/old with a two-sided t interval over processes; None without one, and where nothing says how sure it is."""
    if not differences or freedom(differences, *also) < 1:
        return None
    centre = fmean(differences)
    half = quantile((1 + confidence) / 2, freedom(differences, *also)) * standard_error(differences, sigma_floor, *also)
    return Interval(math.exp(centre), math.exp(centre - half), math.exp(centre + half), confidence, len(differences))


def surely_slower(differences: Sequence[float], alpha: float, sigma_floor: float) -> bool:
    """One-sided: the ratio is above 1, except with ``alpha``. A single process proves nothing."""
    if len(differences) < 2:
        return False
    return fmean(differences) > quantile(1 - alpha, freedom(differences)) * standard_error(differences, sigma_floor)


def comparison(
    what: str, differences: Sequence[float], alpha: float, margin: float, sigma_floor: float, also: Sequence[float] = ()
) -> Comparison | None:
    """Every number of a one-sided test at ``alpha`` against ``margin`` (ln); None below two processes."""
    if len(differences) < 2:
        return None
    df, error, centre = freedom(differences, also), standard_error(differences, sigma_floor, also), fmean(differences)
    threshold = quantile(1 - alpha, df)
    return Comparison(
        what=what,
        estimate=centre,
        standard_error=error,
        df=df,
        rounds=len(differences),
        alpha=alpha,
        threshold=threshold,
        margin=margin,
        minimum_detectable=math.expm1(margin + (threshold + quantile(POWER, df)) * error),
        confidence=1 - 2 * alpha,
        low=centre - threshold * error,
        high=centre + threshold * error,
    )


def bonferroni(confidence: float, comparisons: int) -> float:
    """What each of ``comparisons`` intervals needs so that all hold together with ``confidence``."""
    return 1 - (1 - confidence) / max(1, comparisons)


def tied(differences: Sequence[float], margin: float, confidence: float, sigma_floor: float) -> bool:
    """Two one-sided tests: surely within a factor 1 + ``margin`` either way. A single process proves no tie.

    Each side is tested at ``confidence``, hence the interval of 2 confidence - 1; an intersection-union test needs no
    correction for its number of rivals (Schuirmann's TOST).
    """
    return is_within(interval(differences, 2 * confidence - 1, sigma_floor), margin)


def is_within(found: Interval | None, margin: float) -> bool:
    """A factor 1 + ``margin`` either way, the whole interval; None is not."""
    return found is not None and 1 / (1 + margin) < found.low and found.high < 1 + margin


def minimum_detectable(differences: Sequence[float], confidence: float, sigma_floor: float, *also: Sequence[float]) -> float | None:
    """The smallest true difference, as a fraction, that an interval of this ``confidence`` keeps off 0 with `POWER`."""
    if not differences or (df := freedom(differences, *also)) < 1:
        return None
    quantiles = quantile((1 + confidence) / 2, df) + quantile(POWER, df)
    return math.expm1(quantiles * standard_error(differences, sigma_floor, *also))


def quantile(probability: float, df: float) -> float:
    return float(stdtrit(df, probability))
