"""Warm-up with the arms' own calls, all in rotation, until neither their times nor the clock move any more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from statistics import fmean, median

from backends.cell import Cell
from backends.kv.rotation import computes
from backends.spec import TimingSpec
from backends.timing.sampled import Sampled

Visiting = Callable[[], Sampled]  # one visit of an arm
Series = Mapping[str, Sequence[float]]  # of each arm, one value a visit

WINDOW_S = 0.5
SETTLED = {"cuda": 0.005, "cpu": 0.03}  # a CPU in a virtual machine never gets quieter
CLOCK_SETTLED = 0.01
LONG = 2  # windows in one, for what goes up and down more slowly than one tells
SCATTER = 2.0  # errors of a move that scatter alone explains
HEAVY = 3.0  # times longer until a board is at the temperature that arithmetic brings


@dataclass(frozen=True)
class Window:
    """Each visit's median time in ``us`` and mean clock in ``mhz``, which has no arm whose clock cannot be read."""

    us: Series
    mhz: Series

    def __add__(self, later: Window) -> Window:
        return Window(_joined(self.us, later.us), _joined(self.mhz, later.mhz))


def for_process(timing: TimingSpec, cells: list[Cell], device_type: str) -> dict[str, TimingSpec]:
    """The timing of each of ``cells`` in the order of one process: the first that computes more than it reads warms up longer."""
    first = next((cell for cell in cells if computes(cell, device_type)), None)
    heavy = replace(timing, warmup_s=HEAVY * timing.warmup_s, warmup_cap_s=max(timing.warmup_cap_s, HEAVY * timing.warmup_s))
    return {cell.name: heavy if cell is first else timing for cell in cells}


def warm_up(visits: Mapping[str, Visiting], timing: TimingSpec, device_type: str, now: Callable[[], float] = time.monotonic) -> bool:
    """At least ``warmup_s``, until `settled` between the last two windows or, since at its power limit a board's clock never rests,
    between the last two of `LONG` windows each. False when that did not happen within ``warmup_cap_s``.

    Clocks settle some seconds after a load begins, so a board that was idle needs this before every cell. ``now`` tells seconds.
    """
    started, limit = now(), SETTLED[device_type]
    turns = cycle(visits.items())
    windows = [_window(turns, len(visits), now)]
    while True:
        windows.append(_window(turns, len(visits), now))
        elapsed_s = now() - started
        if elapsed_s >= timing.warmup_s and (settled(windows[-2], windows[-1], limit) or _settled_slowly(windows[-2 * LONG :], limit)):
            return True
        if elapsed_s >= timing.warmup_cap_s:
            return False


def settled(before: Window, now: Window, limit: float) -> bool:
    """Whether no arm's time moved by ``limit``, nor its SM clock by `CLOCK_SETTLED`, or by no more than its own scatter explains."""
    return _stays(before.us, now.us, limit) and _stays(before.mhz, now.mhz, CLOCK_SETTLED)


def moved(before: Sequence[float], now: Sequence[float], limit: float) -> bool:
    """Whether the median went up or down by ``limit``, as a share of it, and the mean by more than `SCATTER` times what that errs by.

    On an H200, prefill visits scatter by 1 to 5 % for as long as one looks, so that their medians agree within 0.5 % by luck alone.
    A steady trend is never taken for scatter: if it moves the mean by d, it scatters n visits a window by d sqrt((n + 1) / 12 n),
    and twice the error of a move is 0.71 d for n = 2 and less for more.
    """
    move, went = median(now) / median(before) - 1, fmean(now) / fmean(before) - 1
    return abs(move) >= limit and abs(went) > SCATTER * _error(before, now)


def _error(before: Sequence[float], now: Sequence[float]) -> float:
    """Of the move from one mean to the other, by how visits scatter within either; 0 where a single visit tells nothing of that."""
    if min(len(before), len(now)) == 1:
        return 0.0
    freedom = len(before) + len(now) - 2
    squares = sum((value / fmean(part) - 1) ** 2 for part in (before, now) for value in part)
    return math.sqrt(squares / freedom * (1 / len(before) + 1 / len(now)))


def _settled_slowly(windows: Sequence[Window], limit: float) -> bool:
    if len(windows) < 2 * LONG:
        return False
    first, second, third, fourth = windows
    return settled(first + second, third + fourth, limit)


def _stays(before: Series, now: Series, limit: float) -> bool:
    return not any(moved(before[name], now[name], limit) for name in before if name in now)


def _joined(earlier: Series, later: Series) -> Series:
    return {name: (*values, *later.get(name, ())) for name, values in earlier.items()}


def _window(turns: Iterator[tuple[str, Visiting]], arms: int, now: Callable[[], float]) -> Window:
    """Visits of the arms in turn for `WINDOW_S`, every arm visited at least once; the next window goes on with the next arm."""
    us: dict[str, list[float]] = {}
    mhz: dict[str, list[float]] = {}
    until = now() + WINDOW_S
    while len(us) < arms or now() < until:
        name, visit = next(turns)
        seen = visit()
        us.setdefault(name, []).append(median(seen.us))
        if seen.sm_clock_mhz is not None:
            mhz.setdefault(name, []).append(seen.sm_clock_mhz)
    return Window(us, mhz)
