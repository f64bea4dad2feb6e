"""A pin's run beside today's, as the screen against stored times takes them: what may be compared, and what is taken off. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from backends.cell import Phase
from backends.timing.disturbance import CAPPED
from reports.numbers import percent
from store.digest import cell_digest
from store.runs.run import Run
from store.verdicts.version_verdict import Dispatch
from tuner.checking.code import is_same, launched, no_other
from tuner.checking.resting import Resting, Seat, cells_of
from tuner.checking.series import Key, Series, series_of
from tuner.checking.untouched import FEWEST, recoded
from tuner.racing.sieve import measured_trials
from tuner.verdicts.bound import by_bound, told
from tuner.verdicts.correction import MOST_DRIFT, Correction, by_controls, none
from tuner.verdicts.inference import Estimates
from tuner.verdicts.session import SessionNoise
from tuner.verdicts.stored import Sitting, difference, incomparable


@dataclass(frozen=True)
class Screen:
    """The pin's run ``then`` and today's ``now``; ``noise`` is what whole sittings differ by."""

    then: Run
    now: Run
    rests: Resting
    noise: SessionNoise

    @cached_property
    def old(self) -> Series:
        return series_of(self.then)

    @cached_property
    def new(self) -> Series:
        return series_of(self.now)

    @cached_property
    def launched(self) -> tuple[Dispatch, ...]:
        return launched(self.then, self.now)

    @cached_property
    def same(self) -> frozenset[Key]:
        """Where the machine code is known to be the same: there is no change to be found."""
        return frozenset((each.arm, each.cell) for each in self.launched if is_same(each))

    @cached_property
    def controls(self) -> dict[str, tuple[str, ...]]:
        """By cell, the arms that nothing touches and that launch there what they launched."""
        untouched = [each for each in self.launched if each.arm not in self.rests.touched and no_other(each)]
        other = recoded(self.then, self.now)
        keys = [key for each in untouched if self._timed(key := (each.arm, each.cell)) and key not in other]
        return {cell: tuple(arm for arm, its in keys if its == cell) for _, cell in keys}

    def correction(self, cell: str) -> Correction:
        """By arms that nothing touched; where there are none, by kernels that never change, if both runs timed them."""
        if self.controls.get(cell) or not self.anchored:
            return correction_by(self.controls.get(cell, ()), cell, self.new, self.old)
        return by_bound(self.now.anchors, self.then.anchors, self.phases[cell])

    @property
    def anchored(self) -> bool:
        return told(self.now.anchors) and told(self.then.anchors)

    @cached_property
    def phases(self) -> dict[str, Phase]:
        return {weighted.cell.name: weighted.cell.phase for weighted in self.then.cells}

    def estimate(self, key: Key) -> Estimates:
        return difference(self.new[key][:, None], self.old[key][:, None], self.correction(key[1]), self.noise)

    def apart(self, key: Key) -> str | None:
        """Why the two sides say nothing of each other there; None where they do."""
        modes = {trial.identity.mode for run in (self.then, self.now) if (trial := measured_trials(run.trials).get(key)) and trial.identity}
        if len(modes) > 1:
            return f"{key[0]} on {key[1]} was served in another mode ({' and '.join(sorted(modes))})"
        if (spread := self._spread(key[1])) > MOST_DRIFT:
            return f"arms that nothing touched moved apart by {percent(math.expm1(spread))} on {key[1]}"
        cell = next(weighted.cell for weighted in self.now.cells if weighted.cell.name == key[1])
        sides = ((self.now, self.new), (self.then, self.old))
        new, old = (_sitting(run, cell_digest(cell), len(series[key])) for run, series in sides)
        return incomparable(new, old, self.correction(key[1]))

    def _spread(self, cell: str) -> float:
        """Between what the controls moved by, in ln; 0 with fewer than two."""
        moves = [float(self.new[arm, cell].mean() - self.old[arm, cell].mean()) for arm in self.controls.get(cell, ())]
        return max(moves) - min(moves) if moves else 0.0

    def _timed(self, key: Key) -> bool:
        return all(key in side and len(side[key]) >= FEWEST for side in (self.old, self.new))

    def keys(self, seats: Collection[Seat]) -> tuple[Key, ...]:
        """Arms and cells of ``seats`` that may have changed and were timed on both sides, in the order of the run."""
        ordered = [(phase, arm.name) for phase in Phase for arm in self.now.arms if (phase, arm.name) in seats]
        found = [(arm, cell) for phase, arm in ordered for cell in cells_of(self.then, phase)]
        return tuple(key for key in found if self._timed(key) and key not in self.same)


def correction_by(controls: Iterable[str], cell: str, new: Series, old: Series) -> Correction:
    """What ``controls`` moved by on ``cell``: their median, no surer than the least sure of them; nothing where there are none."""
    found = [by_controls(*(side[arm, cell][:, None, None] for side in (new, old))) for arm in controls]
    if not found:
        return none(1)
    shift = np.median([each.shift for each in found], axis=0)
    variance = np.max([each.variance for each in found], axis=0)
    return Correction(shift, variance, min(each.df for each in found), np.zeros(1))


def _sitting(run: Run, cell: str, processes: int) -> Sitting:
    board = run.environment.board
    capped = any(CAPPED in measured.labels for measured in run.rounds)
    return Sitting(run.protocol, cell, processes, (board.name, "+".join(run.boards), board.power_limit_w, board.mig), capped)


def same_board(then: Run, now: Run) -> bool:
    """Times of several boards are those of another one."""
    boards = {(run.boards, run.environment.board.power_limit_w, run.environment.board.mig) for run in (then, now)}
    return len(boards) == 1
