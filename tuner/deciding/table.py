"""A run as the decision reads it: arms, their trials, and one reduced row a fresh process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from backends.arm import Arm
from backends.cell import Phase
from backends.measured import Trial
from backends.outcome import Outcome
from store.decision import Pair
from store.runs.run import Run
from store.scenario import Exclusion, WeightedCell
from tuner.arithmetic.objective import Process, process_of
from tuner.limits import serves


@dataclass(frozen=True)
class Table:
    """``trials`` by (arm, cell), the last of several. ``cells`` include guards, which weigh nothing."""

    arms: Mapping[str, Arm]
    trials: Mapping[tuple[str, str], Trial]
    cells: tuple[WeightedCell, ...]
    processes: tuple[Process, ...]
    exclusions: tuple[Exclusion, ...]

    @property
    def boards(self) -> tuple[str | None, ...]:
        """Those that its processes ran on, in order."""
        return tuple(dict.fromkeys(process.board for process in self.processes))

    def cells_of(self, phase: Phase) -> tuple[WeightedCell, ...]:
        return tuple(weighted for weighted in self.cells if weighted.cell.phase is phase)

    def weighted(self) -> tuple[WeightedCell, ...]:
        """The cells that traffic visits."""
        return tuple(weighted for weighted in self.cells if not weighted.is_guard)

    def mode(self, arm: str, cell: str) -> str | None:
        """ "graph" or "eager" as the trial found it; None where the arm did not run."""
        trial = self.trials.get((arm, cell))
        return trial.identity.mode if trial and trial.identity else None

    def measured(self, arm: str, cell: str) -> bool:
        """Right, alone in its process, and timed in at least one round beside its rivals."""
        trial = self.trials.get((arm, cell))
        return trial is not None and trial.outcome is Outcome.MEASURED and any((arm, cell) in process.ln_us for process in self.processes)

    def usable(self, arm: str, phase: Phase) -> bool:
        """Not excluded from the phase, and measured on every cell of it."""
        return serves(self.arms[arm], phase, self.exclusions) and all(
            self.measured(arm, weighted.cell.name) for weighted in self.cells_of(phase)
        )

    def from_the_start(self, pair: Pair) -> int:
        """How many processes, from the first on, timed ``pair`` wherever traffic goes."""
        keys = [(pair.of(weighted.cell.phase), weighted) for weighted in self.weighted()]
        there = (all(process.timed(arm, (weighted,)) for arm, weighted in keys) for process in self.processes)
        return sum(1 for _ in takewhile(bool, there))

    def shared(self, pairs: Iterable[Pair], cells: Iterable[WeightedCell]) -> tuple[Process, ...]:
        """The processes that timed every one of ``pairs`` on every one of ``cells``."""
        wanted = [(pair.of(weighted.cell.phase), weighted) for pair in pairs for weighted in cells]
        return tuple(process for process in self.processes if all(process.timed(arm, (weighted,)) for arm, weighted in wanted))


def table_of(run: Run, confirming: bool = False) -> Table:
    """Of the processes that choices rest on, or of those ``confirming`` one afterwards."""
    own, rounds = run.environment.board.uuid, run.confirmation if confirming else run.race
    return Table(
        arms={arm.name: arm for arm in run.arms},
        trials={(trial.arm, trial.cell): trial for trial in run.trials},
        cells=run.cells,
        processes=tuple(process_of(replace(round_, board=round_.board or own)) for round_ in rounds),
        exclusions=run.exclusions,
    )
