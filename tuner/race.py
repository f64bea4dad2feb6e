"""Fresh processes, all arms that may still win interleaved in each, then the pick once more: the only timings that decide."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from backends.measured import Round, Trial
from backends.outcome import Outcome
from reports.wording import pair
from store.runs.repository import load_run
from store.runs.run import Run
from tuner.budgeting.rationing import confirms_in_time, races_in_time
from tuner.decide import decide
from tuner.device.patience import Patience
from tuner.errors import MeasurementInvalid
from tuner.job import Job
from tuner.racing.next_round import NextRound, foreseen, next_round
from tuner.racing.sameness import changed_kernels, changed_limit, spaced_cells
from tuner.racing.sieve import Entrant, left_out
from tuner.rounds.ahead import RoundsAhead
from tuner.rounds.lent import Order, nobody
from tuner.rounds.measure import measure
from tuner.workers.failure import Place, WorkerFailed

Measured = Callable[[Run, NextRound], Round]


def race(job: Job) -> bool:
    """Run the rounds that `next_round` still asks for; False when time was short for one.

    A round is stored whole or not at all. An arm that fails in one is withdrawn there, and the round is run again.
    Raises `MeasurementInvalid` when a round breaks off again and again without an arm to blame.
    """
    run, time_to_race = load_run(job.store, job.run_id), True
    patience: dict[int, Patience] = {}
    for each in left_out(job.arms, job.cells, run.trials, job.default):
        job.session.progress.note(str(each))
    with (job.lend if next_round(run, everyone=job.everyone) else nobody)() as lent:
        measured = RoundsAhead(job, lent, here, ordered).measured if lent.places else partial(_foreseeing, job)
        while coming := _coming(job, run, time_to_race):
            if not coming.confirms and not races_in_time(job, run, coming):
                time_to_race = False
            elif coming.confirms and not confirms_in_time(job, run, coming):
                return False
            else:
                run_round(job, coming, patience.setdefault(coming.index, Patience(f"round {coming.index + 1}")), measured)
                run = load_run(job.store, job.run_id)
    return time_to_race


def _coming(job: Job, run: Run, racing: bool) -> NextRound | None:
    coming = next_round(run, racing, job.everyone)
    return coming if coming is None or job.staying is None else coming.on(job.staying(run))


def _foreseeing(job: Job, run: Run, coming: NextRound) -> Round:
    """On one board, where the processes after ``coming`` may begin their imports meanwhile."""
    job.session.expect(foreseen(run, coming, job.everyone), others=True)
    return here(job, run, coming)


def leader(run: Run) -> str:
    """The pair of arms with the least attention time over the rounds so far, in words."""
    scores = [score for score in decide(run).scores if score.barred is None and score.dropped is None]
    if not scores:
        return ""
    best = min(scores, key=lambda score: score.objective_ms)
    return f"{pair(best.pair)}, {best.objective_ms:.1f} ms of attention per 1000 output tokens"


def round_seed(job: Job, index: int) -> int:
    """Fixes order and placement of a round; other rounds, and other seeds of the run, get unrelated ones."""
    return random.Random(f"{job.scenario.measure.seed}/{index}").randrange(2**31)


def run_round(job: Job, coming: NextRound, patience: Patience, measured: Measured | None = None) -> None:
    """Have one round ``measured``, here unless somebody else is named, and store it, or what failed in it. Raises `MeasurementInvalid` as
    `race`."""
    run = load_run(job.store, job.run_id)
    try:
        with job.budget.timed("confirming" if coming.confirms else "round"):
            job.keep_round(of_one_kind(run, (measured or partial(here, job))(run, coming)))
    except WorkerFailed as failure:
        withdrawn = withdrawals(failure, coming.field, coming.index)
        if not withdrawn:
            patience.bear(failure)
        job.keep_trials(withdrawn)
        _say_failure(job, coming.index, failure)
        return
    job.session.progress.step()
    if all(arm.is_original for arm in coming.arms):
        job.session.progress.best(leader(load_run(job.store, job.run_id)))


def withdrawals(failure: WorkerFailed, field: Iterable[Entrant], index: int) -> tuple[Trial, ...]:
    """The outcome of the arm that failed, for the cell it failed on, or for all its cells where it came to none of them.

    Empty where no arm can be blamed.
    """
    if failure.outcome is Outcome.INTERRUPTED:
        return ()
    cells = {name for entrant in field if entrant.arm.name == failure.arm for name in entrant.cells}
    lost = cells & {failure.cell} or cells
    detail = f"{failure.detail} (in round {index + 1}, after a good probe)"
    return tuple(Trial(str(failure.arm), name, failure.outcome, detail) for name in sorted(lost))


def here(job: Job, run: Run, coming: NextRound) -> Round:
    """A round on the run's own board. Raises `WorkerFailed`."""
    headline, message = _headline(job, coming), ordered(job, run, coming).message
    measured = measure(job.session, message, job.stage, coming.arms, lambda event: job.hear(event, headline))
    return replace(measured, confirms=coming.confirms, board=job.board)


def ordered(job: Job, run: Run, coming: NextRound) -> Order:
    """As a worker is asked for it, wherever that is."""
    field = coming.field
    cells = tuple(weighted.cell for weighted in job.cells if any(weighted.cell.name in entrant.cells for entrant in field))
    skip = [(entrant.arm.name, cell.name) for entrant in field for cell in cells if cell.name not in entrant.cells]
    asked = {"index": coming.index, "seed": round_seed(job, coming.index), "arms": coming.arms}
    message = job.unstaged("round", cells, **asked, skip=tuple(skip), spaced=spaced_cells(run.trials))
    return Order(coming.index, message, job.stage, coming.arms, coming.confirms)


def of_one_kind(run: Run, measured: Round) -> Round:
    """Raises `MeasurementInvalid` under another power limit, `WorkerFailed` for a round that other kernels ran in."""
    if limit := changed_limit(run, measured):
        raise MeasurementInvalid(limit)
    if kernels := changed_kernels(run.rounds, measured):
        raise WorkerFailed(Outcome.INTERRUPTED, kernels, Place())
    return measured


def _headline(job: Job, coming: NextRound) -> str:
    number = f"round {coming.index + 1}"
    return f"{number}, the pick once more" if coming.confirms else f"{number} of at most {job.scenario.measure.processes}"


def _say_failure(job: Job, index: int, failure: WorkerFailed) -> None:
    where = ", ".join(name for name in (failure.arm, failure.cell) if name) or "no arm to blame"
    job.session.progress.note(f"round {index + 1} broke off, {failure.outcome.value} ({where}): {failure.detail}; it is run again")
