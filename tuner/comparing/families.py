"""What of a comparison is judged, and on which of its pairs. Pure.

The cells of all arms that something touched are one family, which shares its error; each such arm's share of the traffic is one by
itself. Arms that nothing touched are controls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.outcome import Outcome
from store.comparisons.side_by_side import SideBySide
from store.scenario import Objective, WeightedCell
from tuner.arithmetic.objective import counted
from tuner.comparing import differences as taken
from tuner.comparing.differences import Key, RoundPair, keys_of, pairs_of, pairs_with
from tuner.comparing.sameness import controls
from tuner.verdicts.inference import Array


@dataclass(frozen=True)
class Share:
    """One ``arm`` on all the ``cells`` it was timed on and that count, in the ``pairs`` that timed it on every one."""

    arm: str
    cells: tuple[WeightedCell, ...]
    pairs: tuple[RoundPair, ...]
    objective: Objective

    def differences(self) -> Array:
        """Shape (pairs, 1)."""
        return taken.objective_differences(self.pairs, self.arm, self.cells, self.objective)


def judged_keys(measured: SideBySide) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
    """Those of arms that may have changed, and those of controls. What was withdrawn after a good start is neither."""
    gone, same = _withdrawn(measured), controls(measured)
    keys = [key for key in keys_of(pairs_of(measured)) if key not in gone]
    return tuple(key for key in keys if key[0] not in same), tuple(key for key in keys if key[0] in same)


def shares(measured: SideBySide, keys: Sequence[Key]) -> Iterator[Share]:
    """Of each arm in ``keys``."""
    pairs, objective = pairs_of(measured), measured.baseline.scenario.decide.objective
    for arm in dict.fromkeys(arm for arm, _ in keys):
        its = [key for key in keys if key[0] == arm]
        cells = tuple(each for each in counted(measured.baseline.cells, objective) if (arm, each.cell.name) in its)
        if cells:
            yield Share(arm, cells, pairs_with(pairs, its), objective)


def _withdrawn(measured: SideBySide) -> frozenset[Key]:
    last = [{(trial.arm, trial.cell): trial.outcome for trial in run.trials} for run in (measured.baseline, measured.candidate)]
    return frozenset(key for side in last for key, outcome in side.items() if outcome is not Outcome.MEASURED)
