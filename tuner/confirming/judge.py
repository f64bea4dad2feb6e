"""What the starts say: each metric at each concurrency, block by block, and the verdict. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from store.decision import Interval
from store.serving.serving_run import PRIMARY, Contrast, ServedStart
from store.verdicts.comparison import Label
from tuner.arithmetic.statistics import bonferroni, interval, minimum_detectable, tied

METRICS = (PRIMARY, "itl_p99_ms", "ttft_ms", "ttft_p99_ms", "output_tokens_per_s")
RATES = ("output_tokens_per_s",)  # compared as times
CONFIDENCE = 0.95
FLOOR = 0.004  # judgement: two starts of one server are never nearer than 0.2 % except by luck
GRAVITY = (Label.REGRESSED, Label.IMPROVED, Label.INCONCLUSIVE, Label.EQUIVALENT)


def contrasts(starts: Sequence[ServedStart], margin: float) -> tuple[Contrast, ...]:
    """Of every metric that both sides have in at least two blocks. A start is the unit, and a block's two starts follow each other; the
    intervals of one metric hold together over the concurrencies with `CONFIDENCE`."""
    levels = dict.fromkeys(level.concurrency for start in starts for level in start.levels)
    confidence = bonferroni(CONFIDENCE, len(levels))
    found = (_contrast(starts, concurrency, metric, confidence, margin) for concurrency in levels for metric in METRICS)
    return tuple(contrast for contrast in found if contrast is not None)


def _contrast(starts: Sequence[ServedStart], concurrency: int, metric: str, confidence: float, margin: float) -> Contrast | None:
    differences = list(_differences(starts, concurrency, metric))
    ratio, seen = interval(differences, confidence, FLOOR), minimum_detectable(differences, confidence, FLOOR)
    if ratio is None or seen is None:
        return None
    return Contrast(concurrency, metric, ratio, seen, _label(ratio, tied(differences, margin, CONFIDENCE, FLOOR)))


def _differences(starts: Sequence[ServedStart], concurrency: int, metric: str) -> Iterator[float]:
    """ln(pinned / other) of each block that has both."""
    times = {(start.block, start.pinned): _time(start, concurrency, metric) for start in starts}
    for block in sorted({start.block for start in starts}):
        pinned, other = times.get((block, True)), times.get((block, False))
        if pinned and other:
            yield math.log(pinned / other)


def _time(start: ServedStart, concurrency: int, metric: str) -> float | None:
    level = next((each for each in start.levels if each.concurrency == concurrency), None)
    value: float | None = None if level is None else getattr(level, metric)
    return 1000 / value if value and metric in RATES else value


def _label(ratio: Interval, same: bool) -> Label:
    """A difference that is sure and within the margin is nobody's business."""
    if same:
        return Label.EQUIVALENT
    if ratio.low > 1:
        return Label.REGRESSED
    return Label.IMPROVED if ratio.high < 1 else Label.INCONCLUSIVE


def primary(found: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """Those that the verdict rests on: the median ITL at each concurrency."""
    return tuple(contrast for contrast in found if contrast.metric == PRIMARY)


def verdict(found: Sequence[Contrast]) -> Label:
    """The gravest of all concurrencies: a change anywhere is one."""
    return min((contrast.label for contrast in primary(found)), key=GRAVITY.index, default=Label.INCONCLUSIVE)
