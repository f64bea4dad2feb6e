"""The next pair of processes: measured, stored whole or not at all, run again where something broke off."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import count

from backends.measured import Round
from store.run import Run
from store.side_by_side import SideBySide
from store.side_by_sides import add_pair, load_side_by_side
from tuner.comparing.both import Both, field_of
from tuner.comparing.pair_round import SideFailed, measure_pair
from tuner.job import Job
from tuner.patience import RETRIES, Patience
from tuner.race import of_one_kind, round_seed, withdrawals
from tuner.racing.sameness import spaced_cells
from tuner.sieve import Entrant
from tuner.verdicts.rule import Rule

WORDS = ("baseline", "candidate")


def next_pair(both: Both, rule: Rule) -> bool:
    """False where nothing is left to measure. An arm that fails on one side is withdrawn there, and the pair run without it.

    Raises `MeasurementInvalid` when a pair breaks off again and again without an arm to blame.
    """
    measured = load_side_by_side(both.store, both.id)
    taken = {each.index for each in (*measured.baseline.rounds, *measured.candidate.rounds)}
    index = next(number for number in count() if number not in taken)
    headline, patience = f"pair {index + 1} of at most {rule.looks[-1]}", Patience(f"pair {index + 1}")
    while field := field_of(measured):
        try:
            add_pair(both.store, both.id, _one_pair(both, measured, field, index, headline))
        except SideFailed as failed:
            _bear(both, failed, field, index, patience)
            measured = load_side_by_side(both.store, both.id)
            continue
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
    said = f"pair {index + 1} broke off in the {WORDS[failed.side]}, {failure.outcome.value} ({where}): {failure.detail}"
    job.session.progress.note(f"{said}; it is run again (at most {RETRIES} times for nobody's fault)")


def _one_pair(both: Both, measured: SideBySide, field: Sequence[Entrant], index: int, headline: str) -> tuple[Round, Round]:
    runs, arms = (measured.baseline, measured.candidate), tuple(entrant.arm for entrant in field)
    messages = [_message(job, run, field, index, measured) for job, run in zip(both.jobs, runs)]
    with ExitStack() as stack:
        for job in both.jobs:
            job.session.clock.enter("import")
        workers = [stack.enter_context(job.session.worker(arms)) for job in both.jobs]
        found = measure_pair(both.jobs, messages, workers, headline)
    old, new = (of_one_kind(run, each) for run, each in zip(runs, found))
    return old, new


def _message(job: Job, run: Run, field: Sequence[Entrant], index: int, measured: SideBySide) -> dict[str, object]:
    """The same for both sides but for the device they stand on."""
    cells = tuple(weighted.cell for weighted in job.cells if any(weighted.cell.name in entrant.cells for entrant in field))
    skip = tuple((entrant.arm.name, cell.name) for entrant in field for cell in cells if cell.name not in entrant.cells)
    spaced = spaced_cells((*measured.baseline.trials, *measured.candidate.trials))
    arms = tuple(entrant.arm for entrant in field)
    return job.question("round", cells, index=index, seed=round_seed(job, index), arms=arms, skip=skip, spaced=spaced)
