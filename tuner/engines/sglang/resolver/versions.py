"""The releases whose rules were read, and which of them stands for any other."""

from __future__ import annotations

from backends.allowed import release
from backends.question import RULES as READ


def place(version: str) -> int:
    """A version as one number whose differences order by major, minor, then patch."""
    major, minor, patch, *_ = (*release(version), 0, 0, 0)
    return (major * 1000 + minor) * 1000 + patch


def nearest(version: str, known: tuple[str, ...] = READ) -> str:
    """The nearest release that was read, the newer at equal distance."""
    wanted = place(version)
    return version if version in known else min(reversed(known), key=lambda one: abs(place(one) - wanted))
