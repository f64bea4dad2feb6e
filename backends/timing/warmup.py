"""Warm-up with the arms' own calls, all in rotation, until neither their times nor the clock move any more."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from backends.cell import Cell
from backends.kv.rotation import computes
from backends.spec import TimingSpec
from backends.timing.sampled import Sampled

Visiting = Callable[[], Sampled]  # one visit of an arm

WINDOW_S = 0.5
SETTLED = {"cuda": 0.005, "cpu": 0.03}  # a CPU in a virtual machine never gets quieter
CLOCK_SETTLED = 0.01
LONG = 4
HEAVY = 3.0  # times longer until a board is at the temperature that arithmetic brings


@dataclass(frozen=True)
class Window:
    """``us``: each arm's median. ``mhz``: the mean clock of its visits, None where it cannot be read."""

    us: Mapping[str, float]
    mhz: float | None


def for_process(timing: TimingSpec, cells: list[Cell], device_type: str) -> dict[str, TimingSpec]:
    """The timing of each of ``cells`` in the order of one process: the first that computes more than it reads warms up longer."""
    first = next((cell for cell in cells if computes(cell, device_type)), None)
    heavy = replace(timing, warmup_s=HEAVY * timing.warmup_s, warmup_cap_s=max(timing.warmup_cap_s, HEAVY * timing.warmup_s))
    return {cell.name: heavy if cell is first else timing for cell in cells}


def warm_up(visits: Mapping[str, Visiting], timing: TimingSpec, device_type: str, now: Callable[[], float] = time.monotonic) -> bool:
    """At least ``warmup_s``, until between the last two windows no arm's median moved by more than `SETTLED` and the SM clock by
    no more than `CLOCK_SETTLED`; or, since at its power limit a board's clock never rests (2 to 3 % up and down on an H200, and
    times of what memory bounds within 0.3 %), until over the last `LONG` windows no median moved so far and the clock went nowhere.

    False when that did not happen within ``warmup_cap_s``. Clocks settle some seconds after a load begins, so a board
    that was idle needs this before every cell. ``now`` tells seconds.
    """
    started, limit = now(), SETTLED[device_type]
    windows = [_window(visits, now)]
    while True:
        windows.append(_window(visits, now))
        elapsed_s = now() - started
        if elapsed_s >= timing.warmup_s and (settled(windows[-2], windows[-1], limit) or steady(windows[-LONG:], limit)):
            return True
        if elapsed_s >= timing.warmup_cap_s:
            return False


def settled(before: Window, now: Window, limit: float) -> bool:
    """Whether nothing moved from one window to the next."""
    times = all(abs(now.us[name] / us - 1) < limit for name, us in before.us.items())
    return times and (before.mhz is None or now.mhz is None or abs(now.mhz / before.mhz - 1) < CLOCK_SETTLED)


def steady(windows: Sequence[Window], limit: float) -> bool:
    """Whether over `LONG` windows no arm's median moved by ``limit``, and the clock went up and down without getting anywhere."""
    if len(windows) < LONG:
        return False
    seen = [[window.us[name] for window in windows] for name in windows[0].us]
    earlier, later = ([window.mhz for window in half if window.mhz is not None] for half in (windows[: LONG // 2], windows[LONG // 2 :]))
    stays = not earlier or not later or abs(fmean(later) / fmean(earlier) - 1) < CLOCK_SETTLED
    return stays and all(max(us) / min(us) - 1 < limit for us in seen)


def _window(visits: Mapping[str, Visiting], now: Callable[[], float]) -> Window:
    """Visits of the arms in turn for `WINDOW_S`, every arm visited at least once."""
    seen: dict[str, list[Sampled]] = {name: [] for name in visits}
    until = now() + WINDOW_S
    while not all(seen.values()) or now() < until:
        for name, visit in visits.items():
            seen[name].append(visit())
    clocks = [one.sm_clock_mhz for each in seen.values() for one in each if one.sm_clock_mhz is not None]
    return Window({name: median(us for one in each for us in one.us) for name, each in seen.items()}, fmean(clocks) if clocks else None)
