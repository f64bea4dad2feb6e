"""What the rules that ship say of a sitting whose truth is known: nothing changed, or just so many launches were added. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from backends.arm import Arm
from store.boards.calibration import ArmNoise
from store.verdicts.comparison import CellVerdict, Label, Why
from tests.bench.sittings.sitting import Sitting
from tuner.calibrating.noise import COPY, noise_of, sigma_0
from tuner.verdicts.inference import Array
from tuner.verdicts.rule import Rule, rule_for
from tuner.verdicts.side_by_side import LABELS, Code, labels, verdicts

PROFILE = "gate"


@dataclass(frozen=True)
class Judged:
    """An arm on a cell against the copy of it that is slower by ``true`` (ln); 0 = against its equal. ``alone``: what was said where
    no other cell of the sitting had changed. None = not every process timed it, so nothing was said."""

    cell: str
    launched: bool
    true: float | None
    verdict: CellVerdict | None
    alone: Label | None

    @property
    def label(self) -> Label | None:
        return self.verdict.label if self.verdict else None

    @property
    def why(self) -> Why | None:
        return self.verdict.why if self.verdict else None

    @property
    def off_points(self) -> float | None:
        """By how many percentage points the size found is off the true one."""
        if self.verdict is None or self.true is None:
            return None
        return 100 * abs(math.exp(self.verdict.numbers.estimate) - math.exp(self.true))


@dataclass(frozen=True)
class Findings:
    """Of one arm in one sitting. ``by_share``: every cell of the sitting, by how much the copy was slowed (0: not at all); empty where
    there are fewer processes than the first look takes: such a sitting is an occasion of stored times and no more."""

    sitting: Sitting
    arm: Arm
    noise: tuple[ArmNoise, ...]
    by_share: dict[float, tuple[Judged, ...]]

    @property
    def sigma_0(self) -> float | None:
        return sigma_0(self.noise) if self.noise else None


def findings_of(sitting: Sitting) -> tuple[Findings, ...]:
    return tuple(_findings(sitting, arm) for arm in sitting.originals)


def _findings(sitting: Sitting, arm: Arm) -> Findings:
    own = tuple(each for each in sitting.arms if each.original_name == arm.name)
    noise, rule = noise_of(own, sitting.rounds), rule_on(sitting)
    copies = {each.slowed: each for each in own if not each.is_original}
    equal = next((each for each in own if each.copy == COPY and not each.slowed), None)
    if len(sitting.rounds) < rule.looks[0]:
        return Findings(sitting, arm, noise, {})
    found = {share: _judged(sitting, arm, copy, equal, rule) for share, copy in sorted(copies.items())}
    return Findings(sitting, arm, noise, found)


def rule_on(sitting: Sitting) -> Rule:
    """As a comparison has it that follows this calibration."""
    noise = noise_of(sitting.arms, sitting.rounds)
    return rule_for(PROFILE, sigma_0(noise) if noise else None, any(each.two_mode for each in noise))


def _judged(sitting: Sitting, arm: Arm, copy: Arm, equal: Arm | None, rule: Rule) -> tuple[Judged, ...]:
    """The cells that ``copy`` was entered on, in one family with those of the sitting that it was not, where nothing changed."""
    entered = [cell.name for cell in sitting.cells if not copy.slowed or not sitting.slowed_on or cell.name in sitting.slowed_on]
    beside = [each.name for each in (arm, equal) if each is not None]
    cells = [cell for cell in sitting.timed([*beside, copy.name]) if cell in entered]
    others = [cell for cell in sitting.timed(beside) if equal is not None and cell not in entered]
    unchanged = None if equal is None else differences(sitting, arm.name, equal.name, [*cells, *others])
    d = differences(sitting, arm.name, copy.name, cells)
    family = d if unchanged is None else np.hstack((d, unchanged[:, len(cells) :]))
    moving = {each.cell for measured in sitting.rounds for each in measured.cells if not each.settled}
    found = dict(zip(cells, verdicts(family, [*cells, *others], rule, moving) if cells else ()))
    alone = dict(zip(cells, _alone(family, unchanged, rule))) if unchanged is not None and found else {}
    launched = _launched(sitting, arm.name)
    return tuple(
        Judged(cell, cell in launched, added(sitting, copy, cell), found.get(cell), _capped(cell, alone, found, moving)) for cell in entered
    )


def _capped(cell: str, alone: dict[str, Label], found: dict[str, CellVerdict], moving: set[str]) -> Label | None:
    return None if cell not in found else Label.INCONCLUSIVE if cell in moving else alone.get(cell)


def differences(sitting: Sitting, old: str, new: str, cells: Sequence[str]) -> Array:
    """ln(new/old), shape (processes, cells); NaN where a process did not time it."""
    columns = [np.subtract(*(np.array(sitting.ln_us(arm, cell), float) for arm in (new, old))) for cell in cells]
    return np.array(columns, float).reshape(len(cells), len(sitting.rounds)).T


def _alone(d: Array, unchanged: Array, rule: Rule) -> list[Label]:
    """Of every cell where it alone is as in ``d`` and all others are ``unchanged``."""
    places = np.arange(d.shape[1])
    families = np.repeat(unchanged[None], len(places), axis=0)
    families[places, :, places] = d.T
    codes, _ = labels(families, rule)
    return [LABELS.get(Code(code), Label.INCONCLUSIVE) for code in codes[places, places].tolist()]


def added(sitting: Sitting, copy: Arm, cell: str) -> float | None:
    """ln of one and the share of launches that a process added to those it counts, on the average; None where none timed it."""
    counted = [dict(each.launches).get(copy.name) for measured in sitting.rounds for each in measured.cells if each.cell == cell]
    shares = [round(launches * copy.slowed) / launches for launches in counted if launches]
    return fmean(map(math.log1p, shares)) if shares else None


def _launched(sitting: Sitting, arm: str) -> set[str]:
    """Cells whose calls the engine launches one by one, host included."""
    visits = ((each.cell, visit) for measured in sitting.rounds for each in measured.cells for visit in each.visits)
    return {cell for cell, visit in visits if visit.arm == arm and visit.served_us is not None}
