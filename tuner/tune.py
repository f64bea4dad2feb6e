"""The whole job: facts, plan, probes, race, decision, pin."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from reports import justification, summary
from store.connect import Store, open_store
from store.decision import Decision, Ruling
from store.pin import Pin
from store.pin_files import evidence_entry, write_pin
from store.plan import Plan
from store.repository import begin_run, load_run, save_decision, set_left_out
from store.run import Run
from store.scrub import private_names, scrubbed
from tuner.budget import budget_for, in_order
from tuner.clock import PhaseClock
from tuner.decide import decide
from tuner.drivers import imports_of
from tuner.errors import OK, Incomplete
from tuner.job import Job
from tuner.machine import cautions_of, device_key, settings_on
from tuner.new_run import default_arms, new_run, stage_of
from tuner.pin import pin_of
from tuner.plan import make_plan
from tuner.predecessor import replaced
from tuner.probe import open_cells, probe_arms
from tuner.progress import Progress
from tuner.prospect import prospect
from tuner.race import race
from tuner.rationing import left_out, refuse_too_few
from tuner.session import Session
from tuner.settings import Settings
from tuner.waiting import Wait, take_device
from tuner.workers.bundle import bundle, foreign_sources


def run_tune(settings: Settings) -> int:
    """Measure, decide, write the pin; the summary goes to stdout. Returns 0, or 3 where there is no pin."""
    store = open_store(settings.store_url)
    engine, ahead = settings.scenario.engine, settings.scenario.measure.import_ahead
    with Progress() as progress, Session(engine, progress, PhaseClock(), worker_code(settings), ahead) as session:
        for note in store.notes:
            progress.note(note)
        run_id = _measure(settings, store, session)
    return conclude(settings, store, run_id)


def worker_code(settings: Settings) -> bytes:
    """`backends`, and the modules of drivers that lie elsewhere."""
    modules = [driver.driver.partition(":")[0] for entry in settings.entries for driver in entry.drivers]
    return bundle(foreign_sources(modules, [settings.config_dir] if settings.config_dir else []))


def _measure(settings: Settings, store: Store, session: Session) -> str:
    """Everything that needs the device; returns the id of the run it is stored under."""
    environment = session.facts((settings.scenario.engine.name, "torch", "triton", *imports_of(settings.entries))).environment
    settings = settings_on(settings, environment)
    owner = f"attnpin tune model={settings.scenario.model.name}"
    facts = take_device(session, device_key(environment.board), owner, Wait(settings.wait_for_gpu_s))
    plan = make_plan(settings, packages=environment.releases)
    refuse_without_arms(plan)
    run = begin_run(store, new_run(plan, environment), settings.fresh, reopen=settings.without_default)
    _announce(session.progress, run, settings.pin_path)
    if settings.budget_s is not None and not run.trials and (said := prospect(plan, settings.budget_s)):
        session.progress.note(said)
    default = default_arms(run.default, run.arms)
    job = Job(
        *(run.scenario, store, run.id, session, stage_of(plan)),
        arms=in_order(run.arms, default.values(), plan.eager, run.scenario.measure.backends),
        cells=run.cells,
        exclusions=run.exclusions,
        labels=cautions_of(facts),
        default=default,
        budget=budget_for(run, settings.budget_s),
    )
    work_off(job, run)
    return run.id


def refuse_without_arms(plan: Plan) -> None:
    """Raises `Incomplete` with the first reason where no arm is left: nothing is stored of a run without any."""
    if not plan.arms:
        raise Incomplete(f"no backend can be measured, nothing was started: {plan.fatal[0]}; attnpin plan lists every reason")


def work_off(job: Job, run: Run) -> None:
    """Probe and race as far as the budget reaches, and store what it did not reach.

    Raises `Incomplete` when that is too little for a decision: the run stays open.
    """
    trials = probe_arms(job, run.trials, len(run.rounds))
    complete = race(job, trials, run.rounds)
    run = load_run(job.store, run.id)
    sentences = left_out(run, job.budget)
    set_left_out(job.store, run.id, sentences)
    for sentence in sentences:
        job.session.progress.note(sentence)
    if not complete:
        refuse_too_few(run, job.budget)


def _announce(progress: Progress, run: Run, pin_path: Path) -> None:
    if caution := replaced(pin_path, run):
        progress.note(caution)
    probed = sum(not open_cells(arm, run.cells, run.trials, run.exclusions) for arm in run.arms)
    progress.total(len(run.arms) + run.scenario.measure.processes, done=probed + len(run.rounds))
    if run.trials or run.rounds:
        progress.note(f"going on with run {run.id}: {len(run.trials)} trials and {len(run.rounds)} rounds are there")
    names = ", ".join(arm.name for arm in run.arms) or "no backend"
    whose = "you chose" if run.scenario.engine.choices else "the engine's default is"
    progress.note(f"run {run.id} on {run.environment.board.name}: {names}; {whose} {run.default.backends}")


def conclude(settings: Settings, store: Store, run_id: str) -> int:
    """Decide a measured run, write the pin files, end the run in the store, print the summary.

    In this order: where the pin cannot be written, the run stays open and the same command writes it without measuring.
    """
    run = load_run(store, run_id)
    decision = decide(run, settings.without_default)
    status = "incomplete" if decision.ruling is Ruling.INCOMPLETE else "finished"
    run = replace(run, decision=decision, status=status)
    pin = None if decision.ruling is Ruling.INCOMPLETE else write(run, decision, settings.pin_path)
    save_decision(store, run_id, decision, status)
    sys.stdout.write(summary.render(run, pin, str(settings.pin_path) if pin else None, store.url))
    return OK if pin else Incomplete.exit_code


def write(run: Run, decision: Decision, path: Path) -> Pin:
    """The pin's three files at ``path``, free of what says where they were made."""
    public = scrubbed(run, private_names(run.scenario.engine))
    pin = pin_of(public, decision, evidence_entry(path, public))
    return write_pin(path, pin, justification.render(pin, public), public)
