"""Fresh processes, all arms interleaved in each: the only timings that decide."""

from __future__ import annotations

import random
from dataclasses import dataclass

from backends.arm import Arm
from backends.measured import Round, Trial
from backends.outcome import Outcome
from backends.wire import from_plain
from reports.wording import pair
from store.repository import add_round, add_trials, load_run
from store.run import Run
from tuner.decide import decide
from tuner.errors import MeasurementInvalid
from tuner.job import Job
from tuner.workers.failure import WorkerFailed

RETRIES = 3  # of one round whose worker died without naming an arm


@dataclass(frozen=True)
class Entrant:
    """An arm and the cells it was measured on alone; it races on those only."""

    arm: Arm
    cells: frozenset[str]


def race(job: Job, entrants: tuple[Entrant, ...], rounds: tuple[Round, ...]) -> None:
    """Run the rounds that are still missing. A round is stored whole or not at all.

    An arm that fails in a round is taken out with its outcome, and the round is run again without it.
    Raises `MeasurementInvalid` when a round fails again and again without an arm to blame.
    """
    wanted, failures = job.scenario.measure.processes, 0
    done = {entry.index for entry in rounds}
    while entrants and (missing := [index for index in range(wanted) if index not in done]):
        index = missing[0]
        try:
            add_round(job.store, job.run_id, _one_round(job, entrants, index))
        except WorkerFailed as failure:
            failures += failure.arm is None
            if failures > RETRIES:
                raise MeasurementInvalid(
                    f"round {index} broke off {failures} times, last with: {failure.detail}; run tune again"
                ) from failure
            entrants = _without(job, entrants, failure)
            continue
        done.add(index)
        job.session.progress.step()
        job.session.progress.best(leader(load_run(job.store, job.run_id)))


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


def _one_round(job: Job, entrants: tuple[Entrant, ...], index: int) -> Round:
    cells = tuple(weighted.cell for weighted in job.cells if any(weighted.cell.name in entrant.cells for entrant in entrants))
    skip = [(e.arm.name, cell.name) for e in entrants for cell in cells if cell.name not in e.cells]
    arms = tuple(entrant.arm for entrant in entrants)
    message = job.question("round", cells, index=index, seed=round_seed(job, index), arms=arms, skip=tuple(skip))
    job.session.clock.enter("imports")
    with job.session.worker() as worker:
        for event in worker.ask(message):
            job.hear(event, f"round {index + 1} of {job.scenario.measure.processes}")
            if event["event"] == "round":
                return from_plain(Round, event["round"])
    raise RuntimeError(f"the worker ended round {index} without its result")


def _without(job: Job, entrants: tuple[Entrant, ...], failure: WorkerFailed) -> tuple[Entrant, ...]:
    """The field without the arm that failed, whose outcome is stored for the cell it failed on."""
    if failure.arm is None or failure.cell is None or failure.outcome is Outcome.INTERRUPTED:
        return entrants
    add_trials(job.store, job.run_id, [Trial(failure.arm, failure.cell, failure.outcome, failure.detail)])
    job.session.progress.note(f"{failure.arm}: {failure.outcome.value} in a round on {failure.cell}: {failure.detail}")
    return tuple(entrant for entrant in entrants if entrant.arm.name != failure.arm)
