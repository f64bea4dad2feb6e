"""In which order requests come, and when: as somebody wrote it down, drawn, or one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tuner.spans import words
from tuner.traffic.requests import Floats, Ints


@dataclass(frozen=True, eq=False)
class Arrived:
    """``order``: the rows in order of arrival. ``arrival_s`` from the first one, by row; None = nobody knows."""

    arrival_s: Floats | None
    order: Ints
    notes: tuple[str, ...] = ()


def as_written(times_s: Floats, relative: str | None) -> Arrived:
    """``relative``: in which unit times that count from a start were taken; None = they are dates."""
    steps = np.diff(times_s)
    back = int((steps < 0).sum())
    notes = (
        *([f"{back} times go backwards, by {words(float(-steps.min()))} at most: the requests were sorted"] if back else []),
        *([f"times were taken as {relative} from a start"] if relative else []),
    )
    return Arrived(times_s - times_s.min(), np.argsort(times_s, kind="stable"), notes)


def drawn(order: Ints, per_s: float, seed: int) -> Arrived:
    """With exponential gaps."""
    gaps = np.random.default_rng(seed).exponential(1 / per_s, len(order))
    arrival_s = np.empty(len(order))
    arrival_s[order] = np.cumsum(gaps) - gaps[0]
    return Arrived(arrival_s, order, (f"no arrivals are written: drawn at random, {per_s:g} a second on average (seed {seed})",))


def in_turns(talk: Sequence[int], turn: Sequence[int], at_once: int) -> Ints:
    """Each conversation's turns one after the other, ``at_once`` conversations side by side."""
    talks, turns = np.array(talk), np.array(turn)
    return np.lexsort((talks, turns, talks // at_once))
