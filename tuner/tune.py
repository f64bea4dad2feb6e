"""The whole job: facts, plan, probes, race, decision, pin."""

from __future__ import annotations

from dataclasses import replace

from backends.environment import Environment
from reports import asked, wording
from reports.doctor import in_a_sentence
from store.database.connect import Store, open_store
from store.plan import Plan
from store.runs.repository import load_run, newest_since, set_left_out
from store.runs.run import FINISHED, Run
from store.serving.diagnosis import Finding
from tuner.arithmetic.looks import CONFIRMING, REVISITS
from tuner.budgeting.prospect import prospect
from tuner.budgeting.rationing import left_out, refuse_too_few
from tuner.calibrating.calibrated import noise_floor
from tuner.conclude import conclude
from tuner.deciding.floor import said_of
from tuner.device.anchors import keep_anchors
from tuner.device.machine import device_key, meet
from tuner.device.measured_rests import measured_rests
from tuner.device.session import MOST_AHEAD, Session
from tuner.device.session_of import session_of
from tuner.device.waiting import Wait, take_device
from tuner.doctor.diagnose import spoiled_by
from tuner.errors import Incomplete, UsageError
from tuner.job import Job, job_of
from tuner.new_run import new_run
from tuner.past.recorded_times import refuse_unrecorded
from tuner.pinning.predecessor import replaced
from tuner.plan import make_plan
from tuner.planning.consult import begin_engine, consult
from tuner.planning.refine import refine
from tuner.probe import open_cells, probe_arms
from tuner.progress import Progress
from tuner.race import race
from tuner.racing.revisit import revisit
from tuner.rounds.lending import lending
from tuner.search.begun import begin_searched
from tuner.settings import Settings
from tuner.workers.failure import WorkerFailed


def run_tune(settings: Settings) -> int:
    """Measure, decide, write the pin; the summary goes to stdout. Returns `exit_code`."""
    store = open_store(settings.store_url)
    with Progress() as progress, session_of(settings, progress) as session:
        progress.notes(store.notes)
        run_id = _measure(settings, store, session)
    return conclude(settings, store, run_id)


def _measure(settings: Settings, store: Store, session: Session) -> str:
    """Everything that needs the device; returns the id of the run it is stored under."""
    settings, environment = meet(session, settings)
    begin_engine(session, settings, environment, MOST_AHEAD)  # a probe each, which measures for less time than an import takes
    plan = make_plan(settings, environment.releases, consult(session.keeper, settings, environment, environment.releases))
    say_who_answered(session.progress, plan)
    refuse_hopeless(plan)
    refuse_unrecorded(settings.world, plan)
    findings = looked_over(session, settings, environment)
    owner = f"attnpin tune model={settings.scenario.model.name}"
    facts = take_device(session, device_key(environment.board), owner, Wait(settings.wait_for_gpu_s))
    floor = noise_floor(store, environment.board)
    session.progress.note(said_of(floor, settings.scenario.decide))
    begun = replace(new_run(plan, environment, findings, settings.world), noise_floor=floor)
    since = settings.executor.since
    known = newest_since(store, begun.digest, since) if since else None
    if known is not None and known.status == FINISHED:
        session.progress.note(f"run {known.id} measured this in the same sweep")
        return known.id
    begun = replace(begun, rests=measured_rests(session, store, plan, environment))
    fresh = settings.fresh and known is None
    run = begin_searched(store, session, plan, settings.entries, begun, fresh, reopen=settings.without_default)
    if caution := replaced(settings.pin_path, run):
        session.progress.note(caution)
    announce(session.progress, run)
    if settings.budget_s is not None and not run.trials and (said := prospect(plan, settings.budget_s)):
        session.progress.note(said)
    lend = lending(settings, store, session, environment, owner)
    work_off(replace(job_of(run, plan, store, session, facts, settings.budget_s), lend=lend), run)
    return run.id


def say_who_answered(progress: Progress, plan: Plan) -> None:
    """What an engine that is there said for itself, or why it could not be asked."""
    answer = plan.default.asked
    for line in asked.lines(answer, plan.scenario.engine.name) if answer and answer.version else ():
        progress.note(line)


def refuse_hopeless(plan: Plan) -> None:
    """Before the device is taken and anything is stored. Raises `UsageError` as `refuse_unservable`, `Incomplete` with the first reason
    where no arm is left."""
    refuse_unservable(plan)
    if not plan.arms:
        raise Incomplete(f"no backend can be measured, nothing was started: {plan.fatal[0]}; attnpin plan lists every reason")


def refuse_unservable(plan: Plan) -> None:
    """Raises `UsageError` where the engine would not start with what the scenario sets."""
    if plan.refused is not None:
        raise UsageError(f"nothing was started: {plan.refused}")


def looked_over(session: Session, settings: Settings, environment: Environment) -> tuple[Finding, ...]:
    """What is wrong where the arms will run and can spoil a measurement, said as it is found."""
    if settings.world is not None:
        return ()
    try:
        found = spoiled_by(session.keeper, environment, settings.scenario.engine, settings.config_dir)
    except WorkerFailed as failure:
        session.progress.note(f"the serving environment could not be looked over: {failure.detail}")
        return ()
    for finding in found:
        session.progress.note(in_a_sentence(finding))
    return found


def work_off(job: Job, run: Run) -> None:
    """Probe and race as far as the budget reaches, and store what it did not reach.

    Raises `Incomplete` when that is too little for a decision: the run stays open.
    """
    if (more := refine(job)) is not job:
        job, run = more, load_run(job.store, run.id)
    if run.scenario.measure.anchors and not run.anchors:
        keep_anchors(job, run.environment.board)
    probe_arms(job, run.trials, len(run.rounds))
    complete = race(job)
    if complete:
        revisit(job)
    if run.scenario.measure.anchors and len(run.rounds) < len(load_run(job.store, run.id).rounds):
        keep_anchors(job, run.environment.board)
    earlier, run = len(run.rounds), load_run(job.store, run.id)
    sentences = left_out(run, job.budget, earlier)
    set_left_out(job.store, run.id, sentences)
    for sentence in sentences:
        job.session.progress.note(sentence)
    if not complete:
        refuse_too_few(run, job.budget)


def announce(progress: Progress, run: Run) -> None:
    """What is measured, how much of it is there already."""
    probed = sum(not open_cells(arm, run.cells, run.trials, run.exclusions) for arm in run.arms)
    after = CONFIRMING + (REVISITS if run.scenario.measure.sensitivity else 0)
    progress.total(len(run.arms) + run.scenario.measure.processes + after, done=probed + len(run.rounds) + len(run.revisits))
    if run.trials or run.rounds:
        progress.note(f"going on with run {run.id}: {len(run.trials)} trials and {len(run.rounds)} rounds are there")
    names = ", ".join(arm.name for arm in run.arms) or "no backend"
    whose = wording.who_chose(run.scenario) if run.scenario.engine.choices else "the engine's default is"
    progress.note(f"run {run.id} on {run.environment.board.name}: {names}; {whose} {run.default.backends}")
