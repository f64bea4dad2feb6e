"""The pin's arms where they serve today, on the cells of its evidence: probed for their code, then timed in fresh processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends.arm import Arm
from store.database.connect import Store
from store.digest import copies_digest
from store.runs.repository import begin_run, finished_run, load_run, save_decision
from store.runs.run import FINISHED, Run
from tuner.calibrating.calibrated import noise_floor
from tuner.checking.code import is_same, launched, lost, of_seats
from tuner.checking.pinned import Pinned
from tuner.checking.resting import arms_to_measure
from tuner.checking.rounds import anchored, first_look, take_rounds
from tuner.checking.untouched import probes_of
from tuner.conclude import ended_as
from tuner.decide import decide
from tuner.device.machine import device_key, meet
from tuner.device.session import Session
from tuner.device.waiting import Wait, take_device
from tuner.job import Job, job_of
from tuner.new_run import command_line, new_run
from tuner.past.recorded_times import refuse_unrecorded
from tuner.plan import make_plan
from tuner.planning.consult import consult
from tuner.probe import open_cells, probe_arms
from tuner.race import race
from tuner.settings import Settings
from tuner.tune import refuse_unservable, say_who_answered
from tuner.unmeasured.regressions import served_pair

OWNER = "attnpin check"


def measured(pinned: Pinned, settings: Settings, store: Store, session: Session, limit_s: float | None = None) -> Run:
    """A finished run; the rounds are left out where the code is the same. What was measured before of the same pin, machine and
    libraries is answered from the store, unless ``fresh``; an unfinished run goes on. With ``limit_s`` no process is begun that would
    not end by then, as far as was seen."""
    settings, environment = meet(session, settings)
    plan = make_plan(settings, environment.releases, consult(session.keeper, settings, environment, environment.releases))
    say_who_answered(session.progress, plan)
    refuse_unservable(plan)
    refuse_unrecorded(settings.world, plan)
    asked = new_run(plan, environment, world=settings.world)
    begun = check_run(pinned, asked)
    if known := _known(pinned, settings, store, session, begun, asked.digest):
        return known
    facts = take_device(session, device_key(environment.board), f"{OWNER} model={plan.scenario.model.name}", Wait(settings.wait_for_gpu_s))
    if known := _known(pinned, settings, store, session, begun, asked.digest):  # by the run that was waited for
        return known
    run = begin_run(store, replace(begun, noise_floor=noise_floor(store, environment.board)), settings.fresh)
    announce(session, run)
    work_off(pinned, replace(job_of(run, plan, store, session, facts, limit_s), everyone=True))
    return load_run(store, run.id)


def check_run(pinned: Pinned, run: Run) -> Run:
    """Never the run of a `tune` with the same settings, nor continued by one; another one for each pin."""
    arms = arms_to_measure(pinned.then, run.arms, pinned.rests)
    digest = copies_digest(f"{OWNER} {pinned.pin.evidence[1]} {run.digest}", arms)
    return replace(run, arms=arms, cells=pinned.then.cells, digest=digest, command=command_line())


def announce(session: Session, run: Run) -> None:
    session.progress.total(len(run.arms) + first_look(run), done=len(run.rounds))
    names = ", ".join(arm.name for arm in run.arms) or "none of the pin's arms"
    session.progress.note(f"run {run.id} on {run.environment.board.name}: {names}, beside the times of the pin")


def work_off(pinned: Pinned, job: Job) -> None:
    """Probes of what is in question, and where their code is not surely the same, rounds of that and of what nothing touched."""
    touched = [arm for arm in job.arms if arm.name in {name for _, name in pinned.rests.in_question}]
    _probe(job, touched)
    if same_code(pinned, load_run(job.store, job.run_id)) and not pinned.renew:
        save_decision(job.store, job.run_id, None, FINISHED)
        return
    _take_over(pinned, job)
    _probe(job, job.arms)
    with anchored(pinned, job):
        take_rounds(pinned, job)
    decided = decide(load_run(job.store, job.run_id))
    if pinned.renew or (pinned.then.decision and decided.pick != served_pair(pinned.then.decision)):
        race(replace(job, everyone=False))  # a choice that may be pinned is measured once more
    decided = decide(load_run(job.store, job.run_id))
    save_decision(job.store, job.run_id, decided, ended_as(decided))


def same_code(pinned: Pinned, now: Run) -> bool:
    """Whether all that is in question launches what it launched, as far as the driver tells of code."""
    found = of_seats(launched(pinned.then, now), pinned.then, pinned.rests.in_question)
    return bool(found) and all(map(is_same, found)) and not lost(pinned.then, now, pinned.rests)


def _take_over(pinned: Pinned, job: Job) -> None:
    """What the pin's own probes found of arms that nothing touched."""
    known = {(trial.arm, trial.cell) for trial in load_run(job.store, job.run_id).trials}
    if found := probes_of(pinned.then, job.arms, pinned.rests, known):
        job.keep_trials(found)
        job.session.progress.note(f"not probed again, since nothing touched {', '.join(dict.fromkeys(trial.arm for trial in found))}")


def _probe(job: Job, arms: Sequence[Arm]) -> None:
    """After them come the others', then rounds of all."""
    run = load_run(job.store, job.run_id)
    missing = tuple(arm for arm in arms if open_cells(arm, run.cells, run.trials, run.exclusions))
    if missing:
        probe_arms(replace(job, arms=missing), run.trials, len(run.rounds), [job.arms])


def _known(pinned: Pinned, settings: Settings, store: Store, session: Session, begun: Run, tuned: str) -> Run | None:
    known = None if settings.fresh else _finished(pinned, store, begun, tuned)
    if known is not None:
        session.progress.note(f"run {known.id} of {known.created} measured just this; fresh=true measures it again")
    return known


def _finished(pinned: Pinned, store: Store, begun: Run, tuned: str) -> Run | None:
    """Of this very check, else of a `tune` that asked the pin's question here and measured all that is to be measured."""
    checked = finished_run(store, begun.digest)
    if checked is not None and (checked.rounds or not pinned.renew):
        return checked
    known = finished_run(store, tuned)
    names = {arm.name for arm in begun.arms}
    whole = known is not None and known.rounds and known.cells == begun.cells and names <= {arm.name for arm in known.arms}
    return known if whole else None
