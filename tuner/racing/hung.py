"""An arm that hangs on one cell is out of the race for its phase: the other cells there would cost its patience each, for nothing."""

from __future__ import annotations

from collections.abc import Iterable

from backends.cell import Cell
from backends.measured import Trial
from backends.outcome import Outcome
from tuner.workers.failure import WorkerFailed


def spared(failure: WorkerFailed, arm: str, cells: Iterable[Cell], untried: Iterable[Cell]) -> tuple[Trial, ...]:
    """What is stored of ``arm`` for those of ``untried`` that are of the phase in which it timed out. ``cells`` hold the one it hung on."""
    phase = next((cell.phase for cell in cells if cell.name == failure.cell), None)
    if failure.outcome is not Outcome.TIMED_OUT or phase is None:
        return ()
    detail = f"not tried after it timed out on {failure.cell}, in the same phase"
    return tuple(Trial(arm, cell.name, Outcome.TIMED_OUT, detail) for cell in untried if cell.phase is phase)
