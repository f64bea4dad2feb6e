"""`attnpin audit`: are the reasons recorded for the engine's default still true here, and is the default still right?"""

from __future__ import annotations

from dataclasses import replace

from backends.environment import Environment
from store.database.connect import Store, open_store
from store.digest import audit_digest
from store.plan import Plan
from store.runs.repository import begin_run, finished_run, load_run, save_decision
from store.runs.run import Run
from store.verdicts.audit import Audit
from tuner.auditing.plan import audited, blocked, narrowed
from tuner.auditing.steps import Steps, recorded
from tuner.auditing.verdict import audit_of_run, decision_of, unmeasured
from tuner.calibrating.calibrated import noise_floor
from tuner.conclude import ended_as
from tuner.deciding.floor import said_of
from tuner.device.machine import device_key, engine_version, meet
from tuner.device.session import Session
from tuner.device.session_of import session_of
from tuner.device.waiting import Wait, take_device
from tuner.job import job_of
from tuner.limiting.drivers import refuse_undriven
from tuner.new_run import command_line, new_run
from tuner.past.recorded_times import refuse_unrecorded
from tuner.plan import make_plan
from tuner.planning.consult import consult
from tuner.progress import Progress
from tuner.settings import Settings
from tuner.tune import announce, looked_over, refuse_unservable, say_who_answered, work_off


def run_audit(settings: Settings) -> Audit:
    """Tests what is recorded on the path to the default where the arms run; nothing is measured where nothing is recorded."""
    refuse_undriven(settings.scenario.engine.name, settings.entries)
    store = open_store(settings.store_url)
    with Progress() as progress, session_of(settings, progress) as session:
        progress.notes(store.notes)
        settings, environment = meet(session, settings)
        plan, steps = planned(session, settings, environment)
        say_who_answered(progress, plan)
        refuse_unservable(plan)
        refuse_unrecorded(settings.world, plan)
        stuck = blocked(plan, steps, settings.world)
        if len(stuck) == len(steps):
            return unmeasured(plan, engine_version(environment, settings.scenario.engine.name), stuck)
        run = measured(settings, store, session, audited(plan, steps, stuck), environment)
    return audit_of_run(run, steps, stuck)


def planned(session: Session, settings: Settings, environment: Environment) -> tuple[Plan, Steps]:
    """The plan of the default and of what the reasons on its path name, and those reasons."""
    packages = environment.releases
    consulted = consult(session.keeper, settings, environment, packages)
    steps = recorded(make_plan(settings, packages, consulted).path)
    return make_plan(narrowed(settings, steps), packages, consulted), steps


def measured(settings: Settings, store: Store, session: Session, plan: Plan, environment: Environment) -> Run:
    """A finished run of the same question on the same machine and libraries is answered from the store, unless ``fresh``; an
    unfinished one goes on."""
    begun = audit_run(new_run(plan, environment, looked_over(session, settings, environment), settings.world))
    if known := _known(settings, store, session, begun.digest):
        return known
    owner = f"attnpin audit model={plan.scenario.model.name}"
    facts = take_device(session, device_key(environment.board), owner, Wait(settings.wait_for_gpu_s))
    if known := _known(settings, store, session, begun.digest):  # by the run that was waited for
        return known
    floor = noise_floor(store, environment.board)
    session.progress.note(said_of(floor, settings.scenario.decide))
    run = begin_run(store, replace(begun, noise_floor=floor), settings.fresh)
    announce(session.progress, run)
    work_off(replace(job_of(run, plan, store, session, facts, settings.budget_s), everyone=True), run)
    run = load_run(store, run.id)
    decision = decision_of(run)
    save_decision(store, run.id, decision, ended_as(decision))
    return load_run(store, run.id)


def _known(settings: Settings, store: Store, session: Session, digest: str) -> Run | None:
    known = None if settings.fresh else finished_run(store, digest)
    if known is not None:
        session.progress.note(f"run {known.id} of {known.created} measured just this; fresh=true measures it again")
    return known


def audit_run(run: Run) -> Run:
    """Never the run of a `tune` with the same settings, nor continued by one: its cells are others."""
    digest = audit_digest(run.digest, (weighted.cell for weighted in run.cells))
    return replace(run, digest=digest, command=command_line())
