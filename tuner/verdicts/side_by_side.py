"""Two versions measured in one sitting, round by round: at each look the cells that can be labelled are, and keep their label.

The objective is judged by itself, as a family of one cell.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from store.comparison import CellVerdict, Comparison, Label, Why
from tuner.verdicts.inference import Array, Estimates, estimates, exceeded_with, faster, holm, minimum_detectable, same, slower
from tuner.verdicts.modes import two_modes
from tuner.verdicts.rule import Rule

Codes = NDArray[np.int8]
CONFIDENCE = 0.98  # of the intervals that are shown
SHIFT = 0.01  # of what did not change: from here on something else did


class Code(IntEnum):
    OPEN, REGRESSED, IMPROVED, EQUIVALENT = range(4)


LABELS = {Code.REGRESSED: Label.REGRESSED, Code.IMPROVED: Label.IMPROVED, Code.EQUIVALENT: Label.EQUIVALENT}


def labelled(found: Estimates, rule: Rule) -> Codes:
    """What this look alone says of each cell."""
    may_change = found.rounds >= rule.first_change
    regressed = may_change & (holm(slower(found, rule.margin)) <= rule.change_alpha)
    improved = may_change & (holm(faster(found, rule.margin)) <= rule.change_alpha)
    equivalent = same(found, rule.margin, rule.equivalent_alpha)
    codes = np.select([regressed, improved, equivalent], [Code.REGRESSED, Code.IMPROVED, Code.EQUIVALENT], Code.OPEN)
    return codes.astype(np.int8)


def labels(d: Array, rule: Rule) -> tuple[Codes, NDArray[np.int64]]:
    """The label of each cell after the looks that ``d`` (..., rounds, cells) has reached, and the look that gave it (0: none yet)."""
    cells = (*d.shape[:-2], d.shape[-1])
    codes, given = np.zeros(cells, np.int8), np.zeros(cells, np.int64)
    for look in reached(rule, d.shape[-2]):
        new = labelled(estimates(d[..., :look, :], rule.floor), rule)
        fresh = (codes == Code.OPEN) & (new != Code.OPEN)
        codes, given = np.where(fresh, new, codes), np.where(fresh, look, given)
    return codes, given


def reached(rule: Rule, rounds: int) -> tuple[int, ...]:
    return tuple(look for look in rule.looks if look <= rounds)


def may_stop(families: Sequence[Array], rule: Rule) -> bool:
    """Whether another round would tell nothing: every cell of every family (the cells, the objective) is labelled, or it was the last."""
    rounds = families[0].shape[-2]
    if rounds >= rule.looks[-1]:
        return True
    return rounds in rule.looks and all(bool(np.all(labels(d, rule)[0] != Code.OPEN)) for d in families)


def verdicts(d: Array, cells: Sequence[str], rule: Rule, unsettled: Collection[str] = (), shifted: bool = False) -> tuple[CellVerdict, ...]:
    """Of every cell, ``d`` of shape (rounds, cells). ``unsettled`` cells, and all where the environment ``shifted``, get no verdict."""
    codes, given = labels(d, rule)
    caps = {cell: Why.ENV_SHIFT if shifted else Why.UNSETTLED for cell in cells if shifted or cell in unsettled}
    looks = zip(cells, codes.tolist(), given.tolist())
    return tuple(_verdict(d, place, cell, rule, Code(code), look, caps.get(cell)) for place, (cell, code, look) in enumerate(looks))


def _verdict(d: Array, column: int, cell: str, rule: Rule, code: Code, look: int, cap: Why | None) -> CellVerdict:
    found = estimates(d[: look or len(d), column : column + 1], rule.floor)
    numbers = comparison(cell, found, rule, d.shape[1])
    if cap is None and code in LABELS:
        return CellVerdict(LABELS[code], None, numbers)
    return CellVerdict(Label.INCONCLUSIVE, cap or _why(d[:, column], found, rule), numbers)


def _why(rounds: Array, found: Estimates, rule: Rule) -> Why:
    half_width = float(found.half_width(rule.equivalent_alpha)[0])
    changed = abs(float(found.centre[0])) - half_width > rule.margin
    if len(rounds) < rule.looks[-1] or (changed and len(rounds) < rule.first_change):
        return Why.OPEN
    if two_modes(rounds.tolist()):
        return Why.TWO_MODE
    return Why.BORDERLINE if half_width <= rule.margin / 2 else Why.NOISE


def comparison(what: str, found: Estimates, rule: Rule, family: int) -> Comparison:
    """The numbers of one cell (``found`` of one), which shares the error with the others of its ``family`` (Holm's first step)."""
    alpha = rule.change_alpha / family
    centre, half = float(found.centre[0]), float(found.half_width((1 - CONFIDENCE) / 2)[0])
    return Comparison(
        what=what,
        estimate=centre,
        standard_error=float(found.error[0]),
        df=float(np.min(found.df)),
        rounds=found.rounds,
        alpha=alpha,
        threshold=float(np.max(exceeded_with(alpha, found.df))),
        margin=rule.margin,
        minimum_detectable=float(minimum_detectable(found, rule.margin, alpha)[0]),
        confidence=CONFIDENCE,
        low=centre - half,
        high=centre + half,
    )


def shifted(controls: Array, rule: Rule) -> bool:
    """Whether a backend that is the same on both sides, one a column, moved by over 1 %, surely: then something else did."""
    found = estimates(controls, rule.floor)
    moved = (np.abs(found.centre) > SHIFT) & (np.abs(found.centre) > found.half_width((1 - CONFIDENCE) / 2))
    return bool(np.any(moved))
