"""The second half of a calibration that asks about neighbours: its rounds once more while the other GPUs of the host are busy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from reports import wording
from store.boards.calibration import Neighbours
from store.digest import beside_digest
from store.runs.repository import begin_run, load_run, save_decision
from store.runs.run import FINISHED, RUNNING, Run
from tuner.calibrating.neighbours import neighbours_of
from tuner.device.session import Session
from tuner.errors import Incomplete, UsageError
from tuner.job import Job
from tuner.new_run import new_id
from tuner.race import ordered, race
from tuner.racing.next_round import next_round
from tuner.rounds.board import Terms
from tuner.rounds.busy import NotBusy, kept_busy
from tuner.rounds.lending import others_here
from tuner.settings import Settings

ALONE = "--neighbours needs another GPU like this one that is visible and free; leave it out, or free one"


def refuse_alone(settings: Settings, session: Session, terms: Terms) -> None:
    """Raises `UsageError` where no other GPU is visible, before anything is measured."""
    if not any(True for _ in others_here(settings, session, terms)):
        raise UsageError(ALONE)


def beside_neighbours(settings: Settings, job: Job, terms: Terms, alone: Run) -> Neighbours:
    """As many rounds as ``alone`` has, in a run of their own, which goes on where it stopped. Raises `UsageError` without a neighbour,
    `Incomplete` where the budget ended too early or nothing could be measured."""
    session, now = job.session, datetime.now(UTC)
    begun = replace(alone, id=new_id(now), created=now.isoformat(timespec="seconds"), digest=beside_digest(alone.digest), status=RUNNING)
    run = begin_run(job.store, replace(begun, rounds=(), wall_seconds=()), settings.fresh)
    boards, beside = tuple(others_here(settings, session, terms)), replace(job, run_id=run.id)
    busy, whole = len(boards), True
    if coming := next_round(run, everyone=True):
        try:
            with kept_busy(boards, ordered(beside, run, coming), session.progress.note) as busy:
                _announce(session, busy, alone.scenario.measure.processes, len(run.rounds))
                whole = race(beside)
        except NotBusy:
            save_decision(job.store, run.id, None, FINISHED)  # nobody goes on with it
            raise
    measured = load_run(job.store, run.id).rounds
    if not (whole and measured):
        done = wording.count(len(measured), "process", "processes")
        raise Incomplete(f"{done} of {alone.scenario.measure.processes} beside busy neighbours; the same command goes on with it")
    save_decision(job.store, run.id, None, FINISHED)
    return neighbours_of(alone.arms, alone.rounds, measured, busy)


def _announce(session: Session, busy: int, processes: int, done: int) -> None:
    """Raises `UsageError` where nobody is ``busy``."""
    if not busy:
        raise UsageError(ALONE)
    session.progress.total(processes, done)
    session.progress.note(f"the same rounds beside {wording.count(busy, 'busy neighbour')}")
