"""Between the default's probe and everybody else's: cells are added where its times bend."""

from __future__ import annotations

from dataclasses import replace

from store.runs.repository import load_run, set_cells
from tuner.engines.lookup import rules_of
from tuner.job import Job
from tuner.probe import probe_arms
from tuner.traffic.bends import refined


def refine(job: Job) -> Job:
    """``job``, with the cells that its run has from now on where there are more. Nothing is added to a run that has raced, nor where no
    log was read."""
    run = load_run(job.store, job.run_id)
    if run.rounds or job.scenario.traffic.recorded is None or not job.scenario.traffic.recorded.spare:
        return job
    defaults = tuple(arm for arm in job.arms if arm.name in job.default.values())
    probe_arms(replace(job, arms=defaults), run.trials, 0)
    run, engine = load_run(job.store, job.run_id), rules_of(job.scenario)
    server = engine.server_for(job.scenario, engine.rules_for(job.scenario.engine.version)[0], run.default.page_size)
    cells, notes = refined(run, server)
    if cells == run.cells:
        return job
    set_cells(job.store, job.run_id, cells)
    job.session.progress.notes(notes)
    return replace(job, cells=load_run(job.store, job.run_id).cells)
