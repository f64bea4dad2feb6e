"""What of the steps no cell stands for, in words."""

from __future__ import annotations

import numpy as np

from backends.cell import Phase
from tuner.traffic.groups import Groups
from tuner.traffic.requests import Floats
from tuner.traffic.steps import Steps

WORTH_SAYING = 0.005  # of the attention time


def outside(steps: Steps, groups: Groups) -> str:
    """What most of the steps are like that no step of the record is like; "" where they are few."""
    far = groups.outside
    if 1 - groups.covered < WORTH_SAYING:
        return ""
    weight = (steps.count * steps.attention_s)[far]
    batch, new, context = (_span(values[far], weight) for values in (steps.batch, steps.new, steps.keys / steps.batch))
    said = f"{batch} requests with contexts of {context} on average"
    return f"mostly {said}" if steps.phase is Phase.DECODE else f"mostly {new} new tokens of {said}"


def _span(values: Floats, weight: Floats) -> str:
    """Between the tenths of the weight at either end."""
    order = np.argsort(values, kind="stable")
    parts = np.cumsum(weight[order]) / weight.sum()
    low, high = (round(values[order[min(int(np.searchsorted(parts, part)), len(order) - 1)]]) for part in (0.1, 0.9))
    return f"{low}" if low == high else f"{low} to {high}"
