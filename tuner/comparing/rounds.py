"""The next pair of processes: measured, stored whole or not at all, run again where something broke off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import count

from backends.arm import Arm
from backends.measured import Round
from backends.timing.sampled import Manner
from store.comparisons.side_by_side import SIDES, SideBySide
from store.comparisons.side_by_sides import add_pair, load_side_by_side
from store.errors import AlreadyStored
from tuner.comparing.both import Both
from tuner.comparing.in_turn import order_of
from tuner.comparing.pair_round import SideFailed, measure_in_turn, measure_pair
from tuner.comparing.sitting_out import next_field
from tuner.device.patience import RETRIES, Patience
from tuner.job import Job
from tuner.race import of_one_kind, round_seed, withdrawals
from tuner.racing.sameness import spaced_cells
from tuner.racing.sieve import Entrant
from tuner.rounds.measure import refuse_disturbed
from tuner.verdicts.rule import Rule
from tuner.workers.failure import WorkerFailed

Message = Mapping[str, object]


def next_pair(both: Both, rule: Rule) -> bool:
    """False where nothing is left to measure. What is settled sits out. An arm that fails on one side is withdrawn there, and the pair
    run without it.

    Raises `MeasurementInvalid` when a pair breaks off again and again without an arm to blame.
    """
    measured = load_side_by_side(both.store, both.id)
    taken = {each.index for each in (*measured.baseline.rounds, *measured.candidate.rounds)}
    index = next(number for number in count() if number not in taken)
    headline, patience = f"pair {index + 1} of at most {rule.looks[-1]}", Patience(f"pair {index + 1}")
    while field := next_field(measured, rule):
        try:
            add_pair(both.store, both.id, _one_pair(both, measured, field, index, headline))
        except SideFailed as failed:
            _bear(both, failed, field, index, patience)
            measured = load_side_by_side(both.store, both.id)
            continue
        except AlreadyStored:
            both.jobs[0].session.progress.note(f"pair {index + 1} is there already, of another process at the same comparison; it counts")
        both.jobs[0].session.progress.step()
        return True
    return False


def _bear(both: Both, failed: SideFailed, field: Sequence[Entrant], index: int, patience: Patience) -> None:
    job, failure = both.jobs[failed.side], failed.failure
    withdrawn = withdrawals(failure, field, index)
    if not withdrawn:
        patience.bear(failure)
    job.keep_trials(withdrawn)
    where = ", ".join(name for name in (failure.arm, failure.cell) if name) or "no arm to blame"
    said = f"pair {index + 1} broke off in the {SIDES[failed.side]}, {failure.outcome.value} ({where}): {failure.detail}"
    job.session.progress.note(f"{said}; it is run again (at most {RETRIES} times for nobody's fault)")


def _one_pair(both: Both, measured: SideBySide, field: Sequence[Entrant], index: int, headline: str) -> tuple[Round, Round]:
    runs, arms = (measured.baseline, measured.candidate), tuple(entrant.arm for entrant in field)
    sides = zip(both.jobs, both.manners)
    messages = [_message(job, field, index, measured, manner) for job, manner in sides]
    for job in both.jobs:
        job.session.expect([arms], others=True)  # after a look it may be fewer
    take = _at_once if both.together else _in_turn
    found = take(both, messages, arms, index, headline)
    _refuse_disturbed(both)
    old, new = (of_one_kind(run, each) for run, each in zip(runs, found))
    return old, new


def _refuse_disturbed(both: Both) -> None:
    """Raises `SideFailed` where imports beside the pair that just ended got in its way."""
    for side, job in enumerate(both.jobs):
        try:
            refuse_disturbed(job.session)
        except WorkerFailed as failure:
            raise SideFailed(side, failure) from failure


def _at_once(both: Both, messages: Sequence[Message], arms: Sequence[Arm], _: int, headline: str) -> tuple[Round, Round]:
    with ExitStack() as stack:
        for job in both.jobs:
            job.session.clock.enter("import")
        workers = [stack.enter_context(job.session.worker(arms, others=True)) for job in both.jobs]
        return measure_pair(both.jobs, messages, workers, headline)


def _in_turn(both: Both, messages: Sequence[Message], arms: Sequence[Arm], index: int, headline: str) -> tuple[Round, Round]:
    workers = [job.session.worker(arms, others=True) for job in both.jobs]
    return measure_in_turn(both.jobs, messages, workers, order_of(both.jobs[0].scenario.measure.seed, index), headline)


def _message(job: Job, field: Sequence[Entrant], index: int, measured: SideBySide, manner: Manner) -> Message:
    """The same for both sides but for the device they stand on, and the launches that slow one of them."""
    cells = tuple(weighted.cell for weighted in job.cells if any(weighted.cell.name in entrant.cells for entrant in field))
    skip = tuple((entrant.arm.name, cell.name) for entrant in field for cell in cells if cell.name not in entrant.cells)
    spaced = spaced_cells((*measured.baseline.trials, *measured.candidate.trials))
    arms, seed = tuple(entrant.arm for entrant in field), round_seed(job, index)
    return job.question("round", cells, index=index, seed=seed, arms=arms, skip=skip, spaced=spaced, manner=manner)
