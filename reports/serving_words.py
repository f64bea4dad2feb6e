"""What a serving run says, in sentences."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from statistics import median

from reports import numbers, wording
from reports.page import clean
from store.serving.serving_run import PRIMARY, Contrast, Level, Predicted, Sent, ServedStart, ServingRun
from store.serving.verified import DECODE, PREFILL
from store.verdicts.comparison import Label

SIDES = {True: "with the pin", False: "without it"}
METRICS = {
    "itl_ms": "ITL median",
    "itl_p99_ms": "ITL p99",
    "ttft_ms": "TTFT median",
    "ttft_p99_ms": "TTFT p99",
    "output_tokens_per_s": "output tokens/s",
}
STANDING = {
    Label.IMPROVED: "confirmed by a serving run",
    Label.EQUIVALENT: "a serving run saw no difference",
    Label.REGRESSED: "contradicted by a serving run",
    Label.INCONCLUSIVE: "a serving run leaves it open",
}
ONE_BATCH = "one batch at a time, without a server: no queue, no mixed steps, and the engine does not print its other arguments"
NO_CACHE = "no two prompts begin alike, so that the prefix cache finds none of them: TTFT is that of whole prompts"
CACHED = (
    "{share} of the prompt tokens were sent before, so that a prefix cache finds them if it is on and has room: TTFT is that of the rest"
)


def sentence(found: ServingRun) -> str:
    """What the verdict rests on: the median ITL at each concurrency."""
    if found.label is None:
        return "; ".join(found.void)
    rows = [each for each in found.contrasts if each.metric == PRIMARY]
    if not rows:
        return "there are not yet two starts of each side to compare"
    alike = [each for each in rows if each.label is found.label]
    said = ", ".join(f"{_change(each)} at concurrency {each.concurrency}" for each in alike)
    rest = [f"{each.label.value} at concurrency {each.concurrency}" for each in rows if each.label is not found.label]
    return "; ".join([f"median ITL with the pin is {said}", *rest])


def _change(row: Contrast) -> str:
    ratio = row.ratio
    if row.label is Label.INCONCLUSIVE:
        return f"{numbers.change_range(ratio.low - 1, ratio.high - 1)}, too wide to tell"
    return f"{numbers.change(ratio.estimate - 1)} ({numbers.change_range(ratio.low - 1, ratio.high - 1)})"


def beside_the_prediction(found: ServingRun) -> str:
    """One line for a reviewer; the ratio is new/old, above 1 is slower."""
    if found.label is None:
        return ""
    rows = [each for each in found.contrasts if each.metric == PRIMARY]
    each = ", ".join(f"{numbers.interval(row.ratio)} at concurrency {row.concurrency}{_both_changes(found, row)}" for row in rows)
    sides = f"{serves(found, True)} against {serves(found, False)}"
    return f"{STANDING[found.label]}: {sides}, median ITL ratio {each}; {starts_of(found)}, {found.sent.benchmark} benchmark"


def _both_changes(found: ServingRun, row: Contrast) -> str:
    """ " (3.86 ms faster, predicted 4.28 ms faster)"."""
    measured, foretold = measured_change_ms(found, row.concurrency), prediction(found, row.concurrency)
    if measured is None or foretold is None or foretold.change_ms is None:
        return ""
    return f" ({numbers.change_ms(measured)}, predicted {numbers.change_ms(foretold.change_ms)})"


def prediction(found: ServingRun, concurrency: int) -> Predicted | None:
    return next((each for each in found.predicted if each.concurrency == concurrency), None)


def measured_change_ms(found: ServingRun, concurrency: int) -> float | None:
    """Of the median ITL, between the medians of the starts of each side."""
    pin, against = (middle(found, pinned, PRIMARY, concurrency) for pinned in (True, False))
    return None if pin is None or against is None else pin - against


def middle(found: ServingRun, pinned: bool, metric: str, concurrency: int) -> float | None:
    """The median of a side's starts."""
    levels = (level for start in found.side(pinned) for level in start.levels if level.concurrency == concurrency)
    values: list[float] = [value for level in levels if (value := getattr(level, metric)) is not None]
    return median(values) if values else None


def of_start(number: int, start: ServedStart) -> str:
    """On its way: what one start answered."""
    said = "; ".join(f"{each.concurrency} at once: {_level(each)}" for each in start.levels) or f"not measured ({start.fault})"
    return clean(f"start {number}, {SIDES[start.pinned]}: {said}")


def _level(level: Level) -> str:
    values = ((name, getattr(level, name)) for name in ("itl_ms", "ttft_ms", "output_tokens_per_s"))
    return ", ".join(f"{METRICS[name]} {value_of(name, value)}" for name, value in values if value is not None)


def value_of(metric: str, value: float) -> str:
    return numbers.milliseconds(value) if metric.endswith("_ms") else numbers.significant(value, 4)


def notes(starts: Sequence[ServedStart], sent: Sent, one_batch: bool) -> tuple[str, ...]:
    served = {start.version for start in starts if start.version}
    mixed = [f"the starts are of several releases: {', '.join(sorted(served))}"] if len(served) > 1 else []
    cache = CACHED.format(share=numbers.percent(sent.cached_share)) if sent.cached_share else NO_CACHE
    return (ONE_BATCH if one_batch else cache, *sent.notes, *mixed)


def starts_of(found: ServingRun) -> str:
    one, other = len(found.side(True)), len(found.side(False))
    return f"{wording.count(one, 'start')} a side" if one == other else f"{one} and {other} starts"


def serves(found: ServingRun, pinned: bool) -> str:
    """ "fa3", or "prefill fa3, decode triton"."""
    said = [dict(start.serves) for start in found.side(pinned) if start.serves]
    sides = [said[0][phase] for phase in (PREFILL, DECODE) if phase in said[0]] if said else []
    if not sides:
        words = found.flags if pinned else found.against
        return shlex.join(words) or "the default"
    return sides[0] if len(set(sides)) == 1 else f"prefill {sides[0]}, decode {sides[1]}"
