"""Arms of a pin that nothing touched since: what their probes found still holds, and they tell what the board moved by. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from backends.arm import Arm
from backends.measured import Round, Trial
from store.runs.run import Run
from tuner.checking.resting import Resting, cells_of
from tuner.checking.series import Key, series_of
from tuner.comparing.probed import handed_on
from tuner.racing.sameness import kernels_of
from tuner.racing.sieve import measured_trials

FEWEST = 2  # processes of a control: its own scatter is part of what a correction costs


def probes_of(then: Run, arms: Sequence[Arm], rests: Resting, known: Collection[Key] = ()) -> tuple[Trial, ...]:
    """What the run ``then`` found of those of ``arms`` that nothing touched, on its cells, but for what is ``known`` already."""
    names = {arm.name for arm in arms} - rests.touched
    return tuple(handed_on(then, names, [weighted.cell.name for weighted in then.cells], known))


def watched(then: Run, now: Run, rests: Resting) -> bool:
    """Whether on every cell in question an arm that nothing touched is to be timed and was timed before."""
    before, today = series_of(then), measured_trials(now.trials)
    controls = {cell for arm, cell in today if arm not in rests.touched and len(before.get((arm, cell), ())) >= FEWEST}
    return controls.issuperset(cell for phase, _ in rests.in_question for cell in cells_of(then, phase))


def recoded(then: Run, now: Run) -> frozenset[Key]:
    """Arms and cells whose kernels in today's rounds are none that they had in the rounds of ``then``, as far as the driver told."""
    old, new = (_codes(run.rounds) for run in (then, now))
    return frozenset(key for key in old.keys() & new.keys() if old[key].isdisjoint(new[key]))


def _codes(rounds: Sequence[Round]) -> dict[Key, set[str]]:
    found: dict[Key, set[str]] = {}
    for each in rounds:
        for key, code in kernels_of(each).items():
            found.setdefault(key, set()).add(code)
    return found
