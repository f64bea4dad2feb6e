"""A stated figure in words. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reports import numbers
from tuner.triaging.figures import Figure


def words(each: Figure) -> str:
    """ "attention, flashinfer, decode, batch 64: 39.4 before, 283.5 now (time_ms), 7.20 times as long"."""
    name = " ".join(part for part in (each.backend, each.arm) if part)
    graph = f"graph {each.graph}" if each.graph else ""
    parts = (each.component, name, each.phase, graph, *(f"{key} {said}" for key, said in each.labels))
    return f"{', '.join(part for part in parts if part)}: {_changed(each)}"


def _changed(each: Figure) -> str:
    if (added := each.detail("added")) is not None:
        return f"{added} more now ({each.metric})"
    if each.change is None:
        return f"{each.now} ({each.metric})"
    sides = f"{each.before:g} before, {each.after:g} now ({each.metric}), " if each.before and each.after else ""
    return f"{sides}{_moved(each, each.change)}"


def _moved(each: Figure, change: float) -> str:
    """Of a rate how much less of it there is, of a time how much longer it takes."""
    if each.still:
        return f"the same within {numbers.percent(math.expm1(2 * each.noise))}" if change else "the same"
    if math.isinf(change):
        return "slower" if each.slower else "faster"
    if math.exp(change) >= numbers.FACTOR:
        return f"{math.exp(change):.2f} times as long"
    if each.rate:
        return f"{numbers.percent(abs(math.expm1(-change)))} {'less' if each.slower else 'more'}"
    return f"{numbers.percent(abs(math.expm1(change)))} {'slower' if each.slower else 'faster'}"


def worst(slower: Sequence[Figure]) -> str:
    return words(max(slower, key=lambda each: each.change or 0.0))
