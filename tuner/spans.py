"""Spans of time as a user writes and reads them."""

from __future__ import annotations

import re

from tuner.errors import UsageError

UNITS_S = {"s": 1, "m": 60, "h": 3600}
PART = r"(\d+(?:\.\d+)?)([smh])"


def seconds_of(text: str, key: str) -> float:
    """Of "90s", "15m", "2h" or "1h30m". Raises `UsageError`, which names ``key``."""
    if re.fullmatch(f"(?:{PART})+", text) is None:
        raise UsageError(f"{key}={text} is no span of time; write a number with its unit: 90s, 15m or 2h")
    return sum(float(number) * UNITS_S[unit] for number, unit in re.findall(PART, text))


def limit_of(text: str, key: str) -> float:
    """As `seconds_of`, of something that needs some time. Raises `UsageError`."""
    if (seconds := seconds_of(text, key)) <= 0:
        raise UsageError(f"{key}={text} leaves no time at all; write how long is waited: 90s, 15m or 2h")
    return seconds


def written(seconds: float) -> str:
    """As `seconds_of` reads it, in the largest unit that leaves no rest: "4h", "90s"."""
    unit = next((unit for unit in "hm" if seconds % UNITS_S[unit] == 0), "s")
    return f"{seconds / UNITS_S[unit]:.3f}".rstrip("0").rstrip(".") + unit


def words(seconds: float) -> str:
    """ "0.1 s", "90 s", "2 min 30 s", "15 min", "2 h 30 min"; whole minutes from ten minutes on."""
    if seconds < 1:
        return f"{round(seconds, 3):g} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    whole = round(seconds) if seconds < 600 else 60 * round(seconds / 60)
    parts = ((whole // 3600, "h"), (whole // 60 % 60, "min"), (whole % 60, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)
