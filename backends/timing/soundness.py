"""Times a recorded call in other ways than the usual one: over more pools, in a longer graph, with another kernel between.

Once an arm and cell, in its probe; `backends.timing.ways` says what it means.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from backends.measured import Soundness
from backends.timing.capture import ReplayedCall
from backends.timing.sampled import Manner
from backends.timing.ways import agree

if TYPE_CHECKING:
    from backends.driver import PreparedCall
    from backends.spec import TimingSpec
    from backends.timing.instruments import Instruments


def soundness(call: PreparedCall, timed: ReplayedCall, pools: int, timing: TimingSpec, instruments: Instruments) -> Soundness:
    """Of ``timed``, which stays as it is; ``pools`` layers are there to rotate over."""
    usual_us = _us(timed)
    rotation, slope = _doubled(call, timed, pools, timing)
    pace = timed.pace
    with closing(ReplayedCall(call, timed.slots, timing, Manner(spaced=True), instruments.spacer, pace=pace)) as spaced:
        spaced_us = _us(spaced)
    return Soundness(rotation, slope, spaced_us / ((usual_us + _us(timed)) / 2))


def _doubled(call: PreparedCall, timed: ReplayedCall, pools: int, timing: TimingSpec) -> tuple[float | None, float]:
    """(rotation, slope). One graph of twice the launches over twice the pools tells both where it agrees with the usual one; only
    else are they told apart.

    Where memory holds no more pools, half of them are tried: what is cold over half is cold over all, and else nobody knows.
    """
    slots = timed.slots
    tried = 2 * slots if 2 * slots <= pools else max(1, slots // 2)
    both, _ = _slope(call, timed, tried, timing)
    if agree(both):
        return (both if tried > slots else 1 / both), both
    slope, us = _slope(call, timed, slots, timing)
    return (_slope(call, timed, tried, timing)[1] / us if tried > slots else None), slope


def _slope(call: PreparedCall, timed: ReplayedCall, slots: int, timing: TimingSpec) -> tuple[float, float]:
    """What a launch more takes, in a graph of twice the launches over ``slots``, against one of ``timed``; and the mean of all."""
    longer = replace(timed.pace, launches=2 * timed.pace.launches)
    with closing(ReplayedCall(call, slots, timing, pace=longer)) as doubled:
        before_us, doubled_us, after_us = _us(timed), _us(doubled), _us(timed)
    usual_us = (before_us + after_us) / 2
    return (2 * doubled_us - usual_us) / usual_us, doubled_us


def _us(timed: ReplayedCall) -> float:
    return median(timed.visit().us)
