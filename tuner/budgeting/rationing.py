"""What of a job still fits its budget, and what it had to do without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.arm import Arm
from backends.measured import Trial
from backends.outcome import Outcome
from store.runs.run import Run
from tuner import spans
from tuner.arithmetic.looks import CONFIRMING
from tuner.budgeting.budget import Budget, fewest_processes
from tuner.budgeting.estimate import timed_cells
from tuner.deciding.ceiling import too_low
from tuner.errors import Incomplete
from tuner.job import Job
from tuner.racing.finalists import next_finals
from tuner.racing.next_round import NextRound, next_round


def admits(job: Job, arm: Arm, trials: Iterable[Trial], rounds: int) -> bool:
    """Whether ``arm`` is probed now, ``rounds`` processes having been measured already.

    The default is when its probe ends in time. A rival is when the fewest processes can follow in this window; where no
    decision can be reached in it anyway, as the default is. After the first process no arm may join: it would lack that one.
    """
    probe_s = job.budget.probe_s(job.scenario, timed_cells([arm], job.cells, job.exclusions))
    if arm.name in job.default.values():
        return probe_s <= job.budget.left_s
    if rounds:
        return False
    settled = measured_arms(job, trials)
    decidable = bool(_rivals(job, settled)) and rounds_fit(job, settled, _fewest(job))
    return rounds_fit(job, (*settled, arm), _fewest(job), probe_s) or (not decidable and probe_s <= job.budget.left_s)


def rounds_fit(job: Job, arms: Sequence[Arm], count: int, before_s: float = 0.0) -> bool:
    """Whether ``count`` processes with ``arms`` end in time, after ``before_s`` of something else."""
    round_s = job.budget.round_s(job.scenario, timed_cells(arms, job.cells, job.exclusions))
    return before_s + count * round_s <= job.budget.left_s


def races_in_time(job: Job, run: Run, coming: NextRound) -> bool:
    """Whether ``coming`` ends in time, and leaves the time to measure a pick again once a decision can be reached.

    The first process begins only where no arm waits for its probe, or the window ends with a decision without it.
    """
    tried = {trial.arm for trial in run.trials}
    waiting = any(arm.name not in tried for arm in job.arms)
    if not run.rounds and waiting and not rounds_fit(job, measured_arms(job, run.trials), _fewest(job)):
        return False
    spare = CONFIRMING if len(run.race) >= _fewest(job) else 0
    return rounds_fit(job, coming.arms, 1 + spare)


def confirms_in_time(job: Job, run: Run, coming: NextRound) -> bool:
    """A pick is measured again only where a decision was reached."""
    return len(run.race) >= _fewest(job) and rounds_fit(job, coming.arms, 1)


def measured_arms(job: Job, trials: Iterable[Trial]) -> tuple[Arm, ...]:
    names = {trial.arm for trial in trials if trial.outcome is Outcome.MEASURED}
    return tuple(arm for arm in job.arms if arm.name in names)


def left_out(run: Run, budget: Budget, earlier: int = 0) -> tuple[str, ...]:
    """What ``run`` did without for want of time, in sentences. ``budget`` is that of the last job on it, which found ``earlier``
    processes measured: an arm that those had no room for is left out also where this job had all the time."""
    window = "" if budget.limit_s is None else f" in the {spans.words(budget.limit_s)} of measure.budget_s"
    if too_low(run):
        return ()
    arms, missing = _unprobed(run), next_round(run)
    finals = None if missing else next_finals(run)
    when = window if window and not earlier else " before the first process, and none may join later"
    return (
        *([f"not probed{when}: {', '.join(arms)}"] if arms else []),
        *([_missing(run, missing, window)] if missing else []),
        *([f"the finalists were not measured under other conditions{window}"] if finals else []),
    )


def _missing(run: Run, coming: NextRound, window: str) -> str:
    if coming.confirms:
        return f"the pick was not measured again in fresh processes{window}"
    return f"{len(run.race)} of at most {run.scenario.measure.processes} processes were measured{window}"


def refuse_too_few(run: Run, budget: Budget) -> None:
    """Raises `Incomplete` for a run that a window ended before it had the fewest processes."""
    fewest = fewest_processes(run.scenario.measure.processes)
    if budget.limit_s is not None and len(run.race) < fewest:
        tried = {trial.arm for trial in run.trials}
        probed = sum(arm.name in tried for arm in run.arms)
        raise Incomplete(
            f"the {spans.words(budget.limit_s)} of measure.budget_s ended with {probed} of {len(run.arms)} arms probed and "
            f"{len(run.race)} of at least {fewest} processes measured; what was measured is kept in run {run.id}, "
            "the same command goes on with it"
        )


def _unprobed(run: Run) -> list[str]:
    tried = {trial.arm for trial in run.trials if trial.outcome is not Outcome.INTERRUPTED}
    return [arm.name for arm in run.arms if arm.name not in tried]


def _rivals(job: Job, arms: Iterable[Arm]) -> list[Arm]:
    return [arm for arm in arms if arm.name not in job.default.values()]


def _fewest(job: Job) -> int:
    return fewest_processes(job.scenario.measure.processes)
