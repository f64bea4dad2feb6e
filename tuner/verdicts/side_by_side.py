"""Two versions measured in one sitting, round by round: at each look the cells that can be labelled are, and keep their label.

The objective is judged by itself, as a family of one cell. A cell with a label needs no further rounds: a column of differences ends
in NaN where its cell was in fewer rounds than others.

Holm's family stays the whole one at every look. A cell that was labelled before counts by its label alone: as rejected, before all
others, where that was the claim in question, else as one that is never rejected. So nothing that is timed of it later, or not, moves
any other label. The chance of a wrong claim at a look is what the look may spend: as long as no claim was wrong, those that count as
rejected are no true hypotheses, so that of the others at least as many count as there are true ones, and the first of these to be
rejected had a p value below the look's error shared among them all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from store.verdicts.comparison import CellVerdict, Comparison, Label, Why
from tuner.verdicts.inference import Array, Estimates, Flags, estimates, exceeded_with, faster, holm, minimum_detectable, same, slower
from tuner.verdicts.modes import two_modes
from tuner.verdicts.rule import Rule

Codes = NDArray[np.int8]
CONFIDENCE = 0.98  # of the intervals that are shown
SHIFT = 0.01  # of what did not change: from here on something else did


class Code(IntEnum):
    OPEN, REGRESSED, IMPROVED, EQUIVALENT = range(4)


LABELS = {Code.REGRESSED: Label.REGRESSED, Code.IMPROVED: Label.IMPROVED, Code.EQUIVALENT: Label.EQUIVALENT}


def labelled(found: Estimates, rule: Rule, codes: Codes) -> Codes:
    """What this look says of each cell that is open, beside ``codes`` of the looks before; of the others it says nothing."""
    may_change = found.rounds >= rule.first_change
    regressed = may_change & (holm(_counted(slower(found, rule.margin), codes, Code.REGRESSED)) <= rule.change_alpha)
    improved = may_change & (holm(_counted(faster(found, rule.margin), codes, Code.IMPROVED)) <= rule.change_alpha)
    equivalent = same(found, rule.margin, rule.equivalent_alpha)
    new = np.select([regressed, improved, equivalent], [Code.REGRESSED, Code.IMPROVED, Code.EQUIVALENT], Code.OPEN)
    return new.astype(np.int8)


def _counted(p: Array, codes: Codes, claim: Code) -> Array:
    """``p`` values of a ``claim``, with those of labelled cells as they count in the family."""
    counted: Array = np.select([codes == claim, codes != Code.OPEN], [0.0, 1.0], p)
    return counted


def labels(d: Array, rule: Rule) -> tuple[Codes, NDArray[np.int64]]:
    """The label of each cell after the looks that ``d`` (..., rounds, cells) has reached, and the look that gave it (0: none yet)."""
    cells = (*d.shape[:-2], d.shape[-1])
    codes, given = np.zeros(cells, np.int8), np.zeros(cells, np.int64)
    for look in reached(rule, d.shape[-2]):
        new = labelled(estimates(d[..., :look, :], rule.floor), rule, codes)
        fresh = (codes == Code.OPEN) & (new != Code.OPEN)
        codes, given = np.where(fresh, new, codes), np.where(fresh, look, given)
    return codes, given


def reached(rule: Rule, rounds: int) -> tuple[int, ...]:
    return tuple(look for look in rule.looks if look <= rounds)


def undecided(d: Array, rule: Rule) -> Flags:
    """Of each cell, whether further rounds may tell more: it has no label, and has not had its last look."""
    rounds = np.count_nonzero(~np.isnan(d), axis=-2)
    flags: Flags = (labels(d, rule)[0] == Code.OPEN) & (rounds < rule.looks[-1])
    return flags


def verdicts(d: Array, cells: Sequence[str], rule: Rule, unsettled: Collection[str] = (), shifted: bool = False) -> tuple[CellVerdict, ...]:
    """Of every cell, ``d`` of shape (rounds, cells). ``unsettled`` cells, and all where the environment ``shifted``, get no verdict."""
    codes, given = labels(d, rule)
    caps = {cell: Why.ENV_SHIFT if shifted else Why.UNSETTLED for cell in cells if shifted or cell in unsettled}
    looks = zip(cells, codes.tolist(), given.tolist())
    return tuple(_verdict(d, place, cell, rule, Code(code), look, caps.get(cell)) for place, (cell, code, look) in enumerate(looks))


def _verdict(d: Array, column: int, cell: str, rule: Rule, code: Code, look: int, cap: Why | None) -> CellVerdict:
    its = _rounds_of(d, column)
    found = estimates(its[: look or len(its)], rule.floor)
    numbers = comparison(cell, found, rule, d.shape[1])
    if cap is None and code in LABELS:
        return CellVerdict(LABELS[code], None, numbers)
    return CellVerdict(Label.INCONCLUSIVE, cap or _why(its[:, 0], found, rule), numbers)


def _rounds_of(d: Array, column: int) -> Array:
    """Those that one cell was in, shape (rounds, 1)."""
    return d[~np.isnan(d[:, column]), column : column + 1]


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
    return any(_moved(estimates(_rounds_of(controls, column), rule.floor)) for column in range(controls.shape[1]))


def _moved(found: Estimates) -> bool:
    moved = (np.abs(found.centre) > SHIFT) & (np.abs(found.centre) > found.half_width((1 - CONFIDENCE) / 2))
    return bool(np.all(moved))
