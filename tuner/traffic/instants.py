"""When a request came, as somebody wrote it down, in seconds: dates, and numbers in a unit that their size tells."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
NAMES = {1.0: "seconds", 1e-3: "milliseconds", 1e-6: "microseconds", 1e-9: "nanoseconds"}
DATE, RELATIVE = "dates", "times from a start"
# seconds since 1970 are 1e9, and a thousandfold for each smaller unit
EPOCHS = (
    (1e17, "nanoseconds since 1970", 1e-9),
    (1e14, "microseconds since 1970", 1e-6),
    (1e11, "milliseconds since 1970", 1e-3),
    (5e8, "seconds since 1970", 1.0),
)


def instant(value: Any, unit_s: float | None = None) -> tuple[str, float] | None:
    """What kind of time ``value`` is, and its seconds; None for what is no time. Kinds do not mix. ``unit_s`` of numbers; None = as large
    as they are, and seconds where they are small."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return _date(value)
    if not math.isfinite(number):
        return None
    if unit_s is not None:
        return RELATIVE, number * unit_s
    return next(((kind, number * each_s) for least, kind, each_s in EPOCHS if number >= least), (RELATIVE, number))


def _date(value: Any) -> tuple[str, float] | None:
    try:
        found = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    return DATE, (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
