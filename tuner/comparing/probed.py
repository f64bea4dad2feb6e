"""What probes found of an arm holds of it where nothing that it runs on is another: it need not be found again. Pure.

Every process that times checks its arms' answers and kernels again anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from backends.measured import Trial
from store.comparisons.side_by_side import SideBySide
from store.runs.run import PROTOCOL_VERSION, Run
from tuner.comparing.sameness import EVERYTHING, moved
from tuner.racing.sieve import measured_trials


def handed_on(run: Run, arms: Collection[str], cells: Iterable[str], known: Collection[tuple[str, str]] = ()) -> Iterator[Trial]:
    """What ``run`` found of ``arms`` on ``cells``, but for what is ``known`` already as (arm, cell), and for what was chosen by timing,
    which every process does anew. Nothing of a run under another protocol, whose checks were others."""
    if run.protocol != PROTOCOL_VERSION:
        return
    there = set(cells)
    for key, trial in measured_trials(run.trials).items():
        if key[0] in arms and key[1] in there and key not in known and not trial.autotuned:
            yield replace(trial, probed_in=trial.probed_in or run.id)


def with_probes(begun: SideBySide, earlier: Sequence[Run]) -> SideBySide:
    """``begun`` with what ``earlier`` runs found, those named first before the others, of the very arms, cells and versions of a side."""
    return replace(begun, baseline=_with(begun.baseline, earlier), candidate=_with(begun.candidate, earlier))


def _with(side: Run, earlier: Sequence[Run]) -> Run:
    found: dict[tuple[str, str], Trial] = {(trial.arm, trial.cell): trial for trial in side.trials}
    for run in earlier:
        cells = {weighted.cell for weighted in side.cells} & {weighted.cell for weighted in run.cells}
        taken = handed_on(run, _alike(run, side), (cell.name for cell in cells), found)
        found |= {(trial.arm, trial.cell): trial for trial in taken}
    return replace(side, trials=tuple(found.values()))


def _alike(run: Run, side: Run) -> frozenset[str]:
    """Arms that are the same request and run on the same, on boards of one kind under one driver."""
    boards = [replace(each.environment.board, uuid=None) for each in (run, side)]
    touched = {name for change in moved(run, side) for name in change.touches}
    if boards[0] != boards[1] or not touched.isdisjoint(EVERYTHING):
        return frozenset()
    return frozenset(arm.name for arm in side.arms if arm in run.arms) - touched
