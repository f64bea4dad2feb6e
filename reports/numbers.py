"""How a number looks wherever attnpin shows one: its unit, its digits and which way it points.

A ratio is new/old, so above 1 is slower; a change of a time is said in words ("2.1 % slower"), never with a sign. Digits are
fixed by the kind of number, not by its noise: four significant ones for a time, three decimals for a ratio, about two digits
for a percentage.
"""

from __future__ import annotations

import math

from store.decision import Interval

NOT_FINITE = "not finite"
UNKNOWN = "unknown"
MOST_PERCENT = 1000  # intervals over two processes reach far beyond what anybody needs to read
FACTOR = 2.0  # from here on a change may be said in times instead of in percent
LONG_US = 9999.5  # what four digits would write as 10000 us


def significant(value: float, digits: int) -> str:
    """``value`` in fixed point with ``digits`` significant digits (whole digits are never cut: 123456 -> "123500")."""
    if not math.isfinite(value):
        return NOT_FINITE
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".rpartition("e")[2])
    decimals = digits - 1 - exponent
    return f"{round(value, decimals):.{max(0, decimals)}f}"


def microseconds(us: float) -> str:
    """In milliseconds from 10 ms up."""
    return f"{significant(us, 4)} us" if us < LONG_US else milliseconds(us / 1000)


def milliseconds(ms: float) -> str:
    return f"{significant(ms, 4)} ms"


def seconds(s: float) -> str:
    """Wall time, three significant digits below a quarter of an hour, whole minutes above, hours from ten on."""
    if s >= 36_000:
        return f"{significant(s / 3600, 3)} h"
    return f"{significant(s, 3)} s" if s < 900 else f"{s / 60:.0f} min"


def wait(s: float) -> str:
    """A wait that somebody might feel: seconds from 1 s up, whole milliseconds below."""
    return seconds(s) if s >= 1 else f"{1000 * s:.0f} ms"


def gib(size_bytes: int) -> str:
    return f"{significant(size_bytes / 2**30, 3)} GiB"


def memory(size_bytes: int) -> str:
    """In GiB from 1 GiB up, in MiB below."""
    return gib(size_bytes) if size_bytes >= 2**30 else f"{significant(size_bytes / 2**20, 3)} MiB"


def small(value: float) -> str:
    """An error without a unit: two significant digits, in powers of ten."""
    return f"{value:.1e}" if math.isfinite(value) else NOT_FINITE


def ratio(value: float) -> str:
    """New/old, above 1 is slower."""
    if not math.isfinite(value):
        return NOT_FINITE
    return f"{value:.3f}" if abs(value) < 10 else significant(value, 4)


def interval(value: Interval) -> str:
    """A ratio with its interval: "0.949 (0.941 to 0.957)"."""
    return f"{ratio(value.estimate)} ({ratio(value.low)} to {ratio(value.high)})"


def percent(fraction: float) -> str:
    value = 100 * fraction
    if not math.isfinite(value):
        return NOT_FINITE
    if abs(value) > MOST_PERCENT:
        return f"over {MOST_PERCENT} %" if value > 0 else f"below -{MOST_PERCENT} %"
    decimals = 2 if abs(value) < 0.995 else 1 if abs(value) < 9.95 else 0
    rounded = round(value, decimals)
    return "0 %" if rounded == 0 else f"{rounded:.{decimals}f} %"


def level(confidence: float) -> str:
    """A confidence, with the digits a correction for many comparisons gives it: "98.75 %"."""
    return f"{100 * confidence:.4g} %"


def change(fraction: float) -> str:
    """A change of a time, new/old - 1, in words: "2.1 % slower", "2.1 % faster", "unchanged"."""
    shown = percent(abs(fraction))
    return "unchanged" if shown == percent(0) else f"{shown} {'slower' if fraction > 0 else 'faster'}"


def change_ms(ms: float) -> str:
    """A change of a time, new - old, in words: "0.412 ms faster". A difference has a digit less than what it is of."""
    return "unchanged" if ms == 0 else f"{significant(abs(ms), 3)} ms {'slower' if ms > 0 else 'faster'}"


def change_range(low: float, high: float) -> str:
    """Such a change between two ends, the smaller first: "1.6 % to 3.1 % faster"; "0.20 % faster to 1.0 % slower"."""
    nearest, furthest = sorted((low, high), key=abs)
    if low < 0 < high:
        return f"{change(low)} to {change(high)}"
    return change(furthest) if percent(abs(nearest)) == percent(abs(furthest)) else f"{percent(abs(nearest))} to {change(furthest)}"


def moved(least: float, most: float) -> str:
    """Two changes in one direction, ln(new/old), the smaller first: "takes 8.3 to 24 times as long", "is 3.1 % to 5.4 % slower"."""
    if abs(most) < math.log(FACTOR):
        return f"is {change_range(math.expm1(least), math.expm1(most))}"
    low, high = (significant(math.exp(abs(value)), 2) for value in (least, most))
    times = f"{high} times" if low == high else f"{low} to {high} times"
    return f"takes {times} as long" if most > 0 else f"is {times} as fast"


def percent_range(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"
