"""A serving run beside what the pin predicts of it: the median ITL of both sides, and the attention of a step."""

from __future__ import annotations

from collections.abc import Iterator

from reports import numbers
from reports.page import Table
from reports.serving_words import measured_change_ms, middle, prediction, serves
from store.serving.serving_run import PRIMARY, ServingRun

LEAD = (
    "Predicted is the difference of the two sides' attention times in the pin, over all layers of a step, everything else being the same; "
    "measured is that of the median ITL, between the medians of the starts."
)
HEADER = ("at once", "ITL, pin", "ITL, against", "measured", "attention, pin", "attention, against", "predicted", "from")


def table(found: ServingRun) -> Table:
    """A row a concurrency; in times of a step."""
    at = dict.fromkeys(each.concurrency for each in found.contrasts if each.metric == PRIMARY)
    return Table(HEADER, tuple(_row(found, each) for each in at))


def _row(found: ServingRun, concurrency: int) -> tuple[str, ...]:
    foretold = prediction(found, concurrency)
    itl = (middle(found, pinned, PRIMARY, concurrency) for pinned in (True, False))
    attention = (foretold.pin_ms, foretold.against_ms) if foretold else (None, None)
    return (
        str(concurrency),
        *map(_ms, itl),
        _change(measured_change_ms(found, concurrency)),
        *map(_ms, attention),
        _change(foretold.change_ms if foretold else None),
        ", ".join(foretold.cells) if foretold else "",
    )


def unpredicted(found: ServingRun) -> Iterator[str]:
    """Why a row has no prediction, the same reason once."""
    at: dict[str, list[str]] = {}
    for each in found.predicted:
        if each.missing:
            at.setdefault(each.missing, []).append(str(each.concurrency))
    for why, concurrencies in at.items():
        yield f"against {serves(found, False)} nothing is predicted at concurrency {', '.join(concurrencies)}: {why}"


def _ms(value: float | None) -> str:
    return "" if value is None else numbers.milliseconds(value)


def _change(value: float | None) -> str:
    return "" if value is None else numbers.change_ms(value)
