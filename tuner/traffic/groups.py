"""Thousands of steps gathered to a few: weighted k-means over logarithms, the same for the same steps.

Steps that are nearly alike (a quarter of an octave in every axis) are taken together first, so that the rest takes milliseconds. As few
groups as it takes are made: until steps with 95 % of the attention time lie within a factor of 2 of the step that stands for their
group in every axis, and differ from it by less than a quarter in attention time on average. Where so many groups are too few for that,
they are laid where they reach most, and stood for by what reaches most, if that reaches more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tuner.traffic.requests import Floats, Ints
from tuner.traffic.steps import Steps

BINS_PER_OCTAVE = 4
REACH = np.log(2) + 1e-9
ENOUGH = 0.95
ALIKE = 0.25
A_PART = 0.1  # of a group's attention time
ROUNDS, CANDIDATES = 50, 500


@dataclass(frozen=True, eq=False)
class Groups:
    """``of``: the group of each entry of the steps. ``middle``: of each group, the entry that stands for it. ``covered`` is the share of
    attention time within reach of those; ``apart`` how far an entry lies from its own, as ln of a ratio of attention times, on
    average. ``outside``: the entries that are not reached."""

    of: Ints
    middle: tuple[int, ...]
    covered: float
    apart: float
    outside: Ints

    @property
    def enough(self) -> bool:
        return self.covered >= ENOUGH and self.apart <= ALIKE


@dataclass(frozen=True, eq=False)
class Points:
    """Steps or bins of them. ``axes``: a row of logarithms each; ``weight`` = attention time, ``each_s`` that of one step."""

    axes: Floats
    weight: Floats
    each_s: Floats


def gathered(steps: Steps, most: int) -> Groups:
    """At most ``most`` groups."""
    entries = points_of(steps)
    bins, bin_of = _bins(entries, steps.count)
    most = min(most, len(bins.weight))

    def judged(own: Ints) -> Groups:
        return _judged(entries, own[bin_of])

    for centres in _growing(bins, most):
        own = _nearest(bins.axes, centres)
        if _judged(bins, own).enough and (found := judged(own)).covered >= ENOUGH:
            return found
    reaching = _nearest(bins.axes, _reaching(bins, most))
    tried = (judged(own), judged(reaching), *(_farthest_reaching(entries, bins, bin_of, each) for each in (own, reaching)))
    return max(tried, key=lambda groups: min(ENOUGH, groups.covered))


def points_of(steps: Steps) -> Points:
    return Points(steps.axes(), steps.count * steps.attention_s, steps.attention_s)


def far_half(points: Points, members: Ints, middle: int) -> tuple[Ints, int] | None:
    """Of a group those that a second step would stand for better than its ``middle``, and that step; None where they are few."""
    offsets, weight = points.axes[members] - points.axes[middle], points.weight[members]
    away = (offsets**2).sum(axis=1)
    second = offsets[int((weight * away).argmax())]
    for _ in range(ROUNDS):  # 2-means, of which one centre stays
        far = ((offsets - second) ** 2).sum(axis=1) < away
        if not far.any() or np.allclose(moved := np.average(offsets[far], axis=0, weights=weight[far]), second, atol=1e-6):
            break
        second = moved
    if weight[far].sum() < A_PART * weight.sum():
        return None
    return members[far], _middle(points, members[far])


def _bins(entries: Points, count: Floats) -> tuple[Points, Ints]:
    """With the bin of each entry."""
    places = np.round(entries.axes / np.log(2) * BINS_PER_OCTAVE).astype(np.int64)
    _, bin_of = np.unique(places @ (1 << np.arange(0, 20 * places.shape[1], 20)), return_inverse=True)
    weight, steps = np.bincount(bin_of, entries.weight), np.bincount(bin_of, count)
    axes = np.stack([np.bincount(bin_of, entries.weight * column) / weight for column in entries.axes.T], axis=1)
    each_s: Floats = weight / steps
    return Points(axes, weight.astype(np.float64), each_s), bin_of


def _growing(bins: Points, most: int) -> Iterator[Floats]:
    """k-means of one centre, of two, ...: each begins where the last ended, with a centre where most is far away."""
    points, mass = bins.axes, bins.weight
    centres = np.average(points, axis=0, weights=mass)[None]
    while True:
        for _ in range(ROUNDS):
            own = _nearest(points, centres)
            total = np.bincount(own, mass, len(centres))
            sums = np.stack([np.bincount(own, mass * column, len(centres)) for column in points.T], axis=1)
            moved = np.where(total[:, None] > 0, sums / np.maximum(total, 1e-300)[:, None], centres)
            if np.allclose(moved, centres, atol=1e-6):
                break
            centres = moved
        yield centres
        if len(centres) == most:
            return
        away = mass * _squares(points, centres).min(axis=1)
        centres = np.concatenate((centres, points[[int(away.argmax())]]))


def _reaching(bins: Points, most: int) -> Floats:
    """Centres one after the other, each where it brings most that none before it reaches: among the heaviest bins."""
    places = bins.axes[np.argsort(-bins.weight, kind="stable")[:CANDIDATES]]
    reached = np.ones((len(places), len(bins.axes)), dtype=np.bool_)
    for place, column in zip(places.T, bins.axes.T):
        reached &= np.abs(place[:, None] - column) <= REACH
    brings, left = reached.astype(np.float64), bins.weight.copy()
    chosen: list[int] = []
    while len(chosen) < most and left.any():
        chosen.append(int((brings @ left).argmax()))
        left[reached[chosen[-1]]] = 0.0
    return places[chosen]


def _nearest(points: Floats, centres: Floats) -> Ints:
    found: Ints = _squares(points, centres).argmin(axis=1)
    return found


def _squares(points: Floats, centres: Floats) -> Floats:
    found: Floats = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return found


def _farthest_reaching(entries: Points, bins: Points, bin_of: Ints, own: Ints) -> Groups:
    """Groups of bins, each stood for by an entry of the bin that reaches most of it, whatever its attention takes."""
    chosen = [_reaching(_some(bins, np.flatnonzero(own == group)), 1)[0] for group in np.unique(own)]
    places = [int(_squares(bins.axes, centre[None]).argmin()) for centre in chosen]
    return _judged(entries, own[bin_of], tuple(_middle(entries, np.flatnonzero(bin_of == place)) for place in places))


def _some(points: Points, members: Ints) -> Points:
    return Points(points.axes[members], points.weight[members], points.each_s[members])


def _judged(points: Points, own: Ints, middle: tuple[int, ...] = ()) -> Groups:
    """``middle``: what stands for each group, if not that whose attention takes what a step of it takes on average."""
    names, own = np.unique(own, return_inverse=True)
    middle = middle or tuple(_middle(points, np.flatnonzero(own == group)) for group in range(len(names)))
    stand = np.array(middle)[own]
    near = (np.abs(points.axes - points.axes[stand]) <= REACH).all(axis=1)
    apart = np.abs(np.log(points.each_s / points.each_s[stand]))
    total = points.weight.sum()
    covered, mean = float(points.weight[near].sum() / total), float((points.weight * apart).sum() / total)
    return Groups(own, middle, covered, mean, np.flatnonzero(~near))


def _middle(points: Points, members: Ints) -> int:
    """The one whose attention takes what a step of the group takes on average, near the group's centre."""
    mine, each_s, axes = points.weight[members], points.each_s[members], points.axes[members]
    mean_s = mine.sum() / (mine / each_s).sum()
    off = np.abs(np.log(each_s / mean_s))
    away = np.abs(axes - np.average(axes, axis=0, weights=mine)).max(axis=1)
    return int(members[(off + away).argmin()])
