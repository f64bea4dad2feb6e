"""Warm-up with the arms' own calls, all in rotation, until their times no longer move."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

from backends.spec import TimingSpec

Visiting = Callable[[], tuple[float, ...]]  # one visit of an arm: its samples in us

WINDOW_S = 0.5
SETTLED = {"cuda": 0.005, "cpu": 0.03}  # a CPU in a virtual machine never gets quieter


def warm_up(visits: Mapping[str, Visiting], timing: TimingSpec, device_type: str) -> bool:
    """At least ``warmup_s``, until no arm's median moved by more than `SETTLED` between the last two windows.

    False when that did not happen within ``warmup_cap_s``. Clocks settle some seconds after a load begins, so a board
    that was idle needs this before every cell.
    """
    started = time.monotonic()
    before = _window(visits)
    while True:
        now = _window(visits)
        elapsed_s = time.monotonic() - started
        settled = all(abs(now[name] / before[name] - 1) < SETTLED[device_type] for name in visits)
        if settled and elapsed_s >= timing.warmup_s:
            return True
        if elapsed_s >= timing.warmup_cap_s:
            return False
        before = now


def _window(visits: Mapping[str, Visiting]) -> dict[str, float]:
    """Each arm's median over visits in turn for `WINDOW_S`, every arm visited at least once."""
    samples: dict[str, list[float]] = {name: [] for name in visits}
    until = time.monotonic() + WINDOW_S
    while not all(samples.values()) or time.monotonic() < until:
        for name, visit in visits.items():
            samples[name] += visit()
    return {name: median(values) for name, values in samples.items()}
