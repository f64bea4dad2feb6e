"""One row of a version verdict in words: where it is, how long it took, how much that changed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from reports import numbers
from store.verdicts.version_verdict import Row


def worst(rows: Iterable[Row]) -> Row | None:
    """The one that became slower by most."""
    return max(rows, key=lambda row: row.verdict.numbers.estimate, default=None)


def place(row: Row) -> str:
    return f"{row.arm} on {row.cell or 'all cells'}"


def ratio(row: Row | None) -> str:
    """New/old; of None, which is the baseline itself, 1."""
    return numbers.ratio(1.0 if row is None else math.exp(row.verdict.numbers.estimate))


def interval(row: Row) -> str:
    low, high = (numbers.ratio(math.exp(end)) for end in (row.verdict.numbers.low, row.verdict.numbers.high))
    return f"{ratio(row)} ({low} to {high})"


def times(row: Row) -> tuple[str, str]:
    """Of the baseline and of the candidate."""
    unit = numbers.milliseconds if row.cell is None else numbers.microseconds
    return unit(row.old), unit(row.new)
