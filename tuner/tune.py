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
from store.repository import begin_run, load_run, save_decision
from store.run import Run
from store.scrub import private_names, scrubbed
from tuner.clock import PhaseClock
from tuner.decide import decide
from tuner.drivers import imports_of
from tuner.errors import OK, Incomplete
from tuner.job import Job
from tuner.machine import cautions_of, device_key, refuse_busy, settings_on
from tuner.new_run import default_arms, new_run, stage_of
from tuner.pin import pin_of
from tuner.plan import make_plan
from tuner.probe import open_cells, probe_arms
from tuner.progress import Progress
from tuner.race import race
from tuner.session import Session
from tuner.settings import Settings
from tuner.workers.bundle import bundle, foreign_sources


def run_tune(settings: Settings) -> int:
    """Measure, decide, write the pin; the summary goes to stdout. Returns 0, or 3 where there is no pin."""
    store = open_store(settings.store_url)
    with Progress() as progress, Session(settings.scenario.engine, progress, PhaseClock(), worker_code(settings)) as session:
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
    session.lock(device_key(environment.board), f"attnpin tune model={settings.scenario.model.name}")
    facts = session.facts(())  # only now, since a run that was waited for used the device before
    refuse_busy(facts)
    plan = make_plan(settings, packages=dict(environment.imports))
    run = begin_run(store, new_run(plan, environment), settings.fresh, reopen=settings.without_default)
    _announce(session.progress, run)
    job = Job(run.scenario, store, run.id, session, stage_of(plan), run.arms, run.cells, run.exclusions, cautions_of(facts))
    trials = probe_arms(job, run.trials)
    race(job, trials, run.rounds, default_arms(run.default, run.arms))
    return run.id


def _announce(progress: Progress, run: Run) -> None:
    probed = sum(not open_cells(arm, run.cells, run.trials, run.exclusions) for arm in run.arms)
    progress.total(len(run.arms) + run.scenario.measure.processes, done=probed + len(run.rounds))
    if run.trials or run.rounds:
        progress.note(f"going on with run {run.id}: {len(run.trials)} trials and {len(run.rounds)} rounds are there")
    names = ", ".join(arm.name for arm in run.arms) or "no backend"
    progress.note(f"run {run.id} on {run.environment.board.name}: {names}; the engine's default is {run.default.decode}")


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
