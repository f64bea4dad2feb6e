"""Fresh processes, all arms interleaved in each: the only timings that decide."""

from __future__ import annotations

import random
from collections.abc import Iterable

from backends.arm import Arm
from backends.measured import Round, Trial
from backends.outcome import Outcome
from backends.wire import from_plain
from reports.wording import pair
from store.repository import load_run
from store.run import Run
from tuner.decide import decide
from tuner.job import Job
from tuner.patience import Patience
from tuner.rationing import may_race, measured_arms, rounds_fit
from tuner.sieve import Entrant, entrants, left_out
from tuner.workers.failure import Place, WorkerFailed

Trials = tuple[Trial, ...]


def race(job: Job, trials: Trials, rounds: Iterable[Round]) -> bool:
    """Run the rounds that are still missing, each with the arms that `entrants` lets through; False when time was short for one.

    A round is stored whole or not at all. An arm that fails in one is withdrawn there, and the round is run again.
    Raises `MeasurementInvalid` when a round breaks off again and again without an arm to blame.
    """
    for each in left_out(job.arms, job.cells, trials, job.default):
        job.session.progress.note(str(each))
    done = {entry.index for entry in rounds}
    missing = [index for index in range(job.scenario.measure.processes) if index not in done]
    for index in missing:
        if not may_race(job, trials, len(done)) or not rounds_fit(job, measured_arms(job, trials), 1):
            return False
        job.session.expect(_racing(job, trials) if index != missing[-1] else ())
        with job.budget.timed("round"):
            trials = _run_round(job, index, trials)
        job.session.progress.step()
        job.session.progress.best(leader(load_run(job.store, job.run_id)))
        done.add(index)
    return True


def leader(run: Run) -> str:
    """The pair of arms with the least attention time over the rounds so far, in words."""
    scores = [score for score in decide(run).scores if score.barred is None]
    if not scores:
        return ""
    best = min(scores, key=lambda score: score.objective_ms)
    return f"{pair(best.pair)}, {best.objective_ms:.1f} ms of attention per 1000 output tokens"


def round_seed(job: Job, index: int) -> int:
    """Fixes order and placement of a round; other rounds, and other seeds of the run, get unrelated ones."""
    return random.Random(f"{job.scenario.measure.seed}/{index}").randrange(2**31)


def _racing(job: Job, trials: Trials) -> tuple[Arm, ...]:
    return tuple(entrant.arm for entrant in entrants(job.arms, job.cells, trials, job.default))


def _run_round(job: Job, index: int, trials: Trials) -> Trials:
    """Measure and store one round, without those that fail in it; the trials as they stand afterwards."""
    patience = Patience(f"round {index + 1}")
    while field := entrants(job.arms, job.cells, trials, job.default):
        try:
            job.keep_round(_one_round(job, field, index))
            break
        except WorkerFailed as failure:
            withdrawn = withdrawals(failure, field, index)
            if not withdrawn:
                patience.bear(failure)
            job.keep_trials(withdrawn)
            _say_failure(job, index, failure)
            trials = (*trials, *withdrawn)
    return trials


def withdrawals(failure: WorkerFailed, field: Iterable[Entrant], index: int) -> Trials:
    """The outcome of the arm that failed, for the cell it failed on, or for all its cells where it came to none of them.

    Empty where no arm can be blamed.
    """
    if failure.outcome is Outcome.INTERRUPTED:
        return ()
    cells = {name for entrant in field if entrant.arm.name == failure.arm for name in entrant.cells}
    lost = cells & {failure.cell} or cells
    detail = f"{failure.detail} (in round {index + 1}, after a good probe)"
    return tuple(Trial(str(failure.arm), name, failure.outcome, detail) for name in sorted(lost))


def _one_round(job: Job, field: tuple[Entrant, ...], index: int) -> Round:
    cells = tuple(weighted.cell for weighted in job.cells if any(weighted.cell.name in entrant.cells for entrant in field))
    skip = [(entrant.arm.name, cell.name) for entrant in field for cell in cells if cell.name not in entrant.cells]
    arms = tuple(entrant.arm for entrant in field)
    message = job.question("round", cells, index=index, seed=round_seed(job, index), arms=arms, skip=tuple(skip))
    job.session.clock.enter("import")
    with job.session.worker(arms) as worker:
        for event in worker.ask(message):
            job.hear(event, f"round {index + 1} of {job.scenario.measure.processes}")
            if event["event"] == "round":
                _refuse_disturbed(job)
                return from_plain(Round, event["round"])
    raise RuntimeError(f"the worker ended round {index} without its result")


def _refuse_disturbed(job: Job) -> None:
    job.session.clock.enter("import")
    if job.session.was_disturbed():
        raise WorkerFailed(Outcome.INTERRUPTED, "the imports of the next process opened a context on the device meanwhile", Place())


def _say_failure(job: Job, index: int, failure: WorkerFailed) -> None:
    where = ", ".join(name for name in (failure.arm, failure.cell) if name) or "no arm to blame"
    job.session.progress.note(f"round {index + 1} broke off, {failure.outcome.value} ({where}): {failure.detail}; it is run again")
