"""Against times that another sitting stored, on another day and maybe another board: a screen, since sittings differ by themselves.

SE^2 = s_new^2/K_new + s_old^2/K_old + 2 sigma_sess^2 + exposure^2 + SE_correction^2        df = min(nu_sess, Satterthwaite)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from store.verdicts.comparison import CellVerdict, Comparison, Label, Why
from tuner.verdicts.correction import MOST_DRIFT, Correction
from tuner.verdicts.inference import Array, Estimates, Flags, faster, holm, same, slower
from tuner.verdicts.rule import Rule
from tuner.verdicts.session import SessionNoise
from tuner.verdicts.side_by_side import comparison

RULE = Rule(looks=(1,), margin=math.log(1.03), first_change=1)  # of stored times there is one look
SUSPECT_BOUND = 0.1
SUSPECT_CHANGE = math.log(1.02)
FEWEST = 3  # processes a side
ORDER = (Label.REGRESSED, Label.IMPROVED, Label.EQUIVALENT, Label.SUSPECT)  # the first that holds is said


@dataclass(frozen=True)
class Sitting:
    """What must be alike before two sittings are compared on a cell. ``board``: what tells boards apart (UUID, VBIOS, power limit,
    virtualisation); ``power_capped``: whether the cap set the clock, None = unknown."""

    protocol: int
    cell_digest: str
    processes: int
    board: tuple[str | float | None, ...]
    power_capped: bool | None


def same_board(new: Sitting, old: Sitting) -> bool:
    return new.board == old.board


def incomparable(new: Sitting, old: Sitting, correction: Correction) -> str | None:
    """Why the two say nothing of each other; None where they do."""
    if new.protocol != old.protocol:
        return f"the stored times follow protocol {old.protocol}, the new ones {new.protocol}"
    if new.cell_digest != old.cell_digest:
        return "the stored cell is another one"
    if min(new.processes, old.processes) < FEWEST:
        return f"{min(new.processes, old.processes)} processes on one side, {FEWEST} are needed"
    if new.power_capped != old.power_capped:
        known = None not in (new.power_capped, old.power_capped)
        return "the power cap set the clock of one side alone" if known else "of one side nobody knows whether the power cap set its clock"
    return f"the anchors differ by over {100 * MOST_DRIFT:.0f} %" if correction.too_large else None


def difference(new: Array, old: Array, correction: Correction, noise: SessionNoise) -> Estimates:
    """Corrected ln(new/old) of each cell; ``new`` and ``old`` (..., processes, cells) hold ln of process means."""
    parts = [
        (_variance(new), new.shape[-2] - 1),
        (_variance(old), old.shape[-2] - 1),
        (np.full(new.shape[-1], 2 * noise.sigma**2), noise.df),
        (correction.exposure**2, math.inf),
        (correction.variance, correction.df),
    ]
    variance = sum(part for part, _ in parts)
    with np.errstate(divide="ignore"):
        satterthwaite = variance**2 / sum(part**2 / df for part, df in parts)
    centre = new.mean(axis=-2) - old.mean(axis=-2) - correction.shift
    return Estimates(centre, np.sqrt(variance), np.minimum(satterthwaite, noise.df), min(new.shape[-2], old.shape[-2]))


def regressed(found: Estimates) -> Flags:
    flags: Flags = holm(slower(found, RULE.margin)) <= RULE.change_alpha
    return flags


def improved(found: Estimates) -> Flags:
    flags: Flags = holm(faster(found, RULE.margin)) <= RULE.change_alpha
    return flags


def suspect(found: Estimates) -> Flags:
    """Probably slower, by however little, or slower by over 2 % as far as one can tell: worth a sitting side by side."""
    flags: Flags = (found.centre - found.half_width(SUSPECT_BOUND) > 0) | (found.centre > SUSPECT_CHANGE)
    return flags


def screen(
    new: Array, old: Array, cells: Sequence[str], correction: Correction, noise: SessionNoise, apart: Collection[str] = ()
) -> tuple[CellVerdict, ...]:
    """Of every cell, ``new`` and ``old`` of shape (processes, cells). Cells in ``apart`` are not comparable.

    A cell that is surely within the margin is equivalent even where it is probably a little slower.
    """
    return screened(difference(new, old, correction, noise), cells, apart)


def screened(found: Estimates, cells: Sequence[str], apart: Collection[str] = ()) -> tuple[CellVerdict, ...]:
    """As `screen`, of differences that are taken already; all ``cells`` are one family."""
    flags = np.stack([regressed(found), improved(found), same(found, RULE.margin, RULE.equivalent_alpha), suspect(found)])
    said = [next((label for label, flag in zip(ORDER, column) if flag), Label.INCONCLUSIVE) for column in flags.T]
    return tuple(
        _verdict(Label.INCONCLUSIVE if cell in apart else label, cell in apart, comparison(cell, _one(found, place), RULE, len(cells)))
        for place, (cell, label) in enumerate(zip(cells, said))
    )


def _one(found: Estimates, place: int) -> Estimates:
    return Estimates(found.centre[[place]], found.error[[place]], found.df[[place]], found.rounds)


def _verdict(label: Label, apart: bool, numbers: Comparison) -> CellVerdict:
    why = None if label is not Label.INCONCLUSIVE else Why.INCOMPARABLE if apart else Why.NOISE
    return CellVerdict(label, why, numbers)


def _variance(times: Array) -> Array:
    variance: Array = times.var(axis=-2, ddof=1) / times.shape[-2]
    return variance
