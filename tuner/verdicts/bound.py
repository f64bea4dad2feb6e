"""Which of a board's anchors a cell feels: what bounds it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from backends.anchored import Anchors
from backends.cell import Phase
from tuner.verdicts.correction import Correction, by_anchor
from tuner.verdicts.inference import Array

BOUND: Mapping[Phase, str] = {Phase.DECODE: "read_us", Phase.PREFILL: "multiply_us"}


def told(anchors: Iterable[Anchors]) -> bool:
    """Whether there are any, of both kinds each time."""
    taken = tuple(anchors)
    return bool(taken) and all(getattr(each, field) for each in taken for field in BOUND.values())


def by_bound(new: Iterable[Anchors], old: Iterable[Anchors], phase: Phase) -> Correction:
    """Of one cell of ``phase``; both sides are `told`."""
    return by_anchor(_ln_us(new, phase), _ln_us(old, phase), 1)


def _ln_us(anchors: Iterable[Anchors], phase: Phase) -> Array:
    """One value a visit."""
    return np.log([us for each in anchors for us in getattr(each, BOUND[phase])])
