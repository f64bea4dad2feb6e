from __future__ import annotations

from dataclasses import replace

from backends.deviation import SHOWED
from store.runs.run import Run
from tests.store.building import all_trials
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import GATE, RUN, times
from tuner.comparing.deviating import deviating_apart
from tuner.comparing.judge import judge

LABEL = f"{SHOWED}: so"
ARM, CELL = next((trial.arm, trial.cell) for trial in all_trials(RUN) if trial.cost is not None)


def probed(run: Run, *labels: str) -> Run:
    """With trials, of which one bears ``labels``."""
    trials = (replace(trial, labels=labels) if (trial.arm, trial.cell) == (ARM, CELL) else trial for trial in all_trials(run))
    return replace(run, trials=tuple(trials))


def test_an_arm_that_deviates_on_one_side_alone_is_said_in_the_verdict() -> None:
    measured = compared(RUN, 4, times())
    (plain, other), (odd, _) = ([probed(run, *labels) for run in (measured.baseline, measured.candidate)] for labels in ((), (LABEL,)))
    before, after = replace(measured, baseline=odd, candidate=other), replace(measured, baseline=plain, candidate=probed(other, LABEL))
    for sides, one, without in ((before, "baseline", "candidate"), (after, "candidate", "baseline")):
        said = f"{ARM} on {CELL}: its answers deviate, as is declared of it, in the {one} and not in the {without}: another task"
        assert list(deviating_apart(sides)) == [said] and said in judge(sides, GATE).notes
    assert not list(deviating_apart(replace(before, candidate=before.baseline))) and not list(deviating_apart(measured))
