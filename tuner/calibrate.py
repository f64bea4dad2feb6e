"""`attnpin calibrate`: how much times vary on this board by themselves. Every arm is measured beside its own copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from backends.anchored import Anchors
from backends.arm import Arm
from backends.measured import Trial
from backends.outcome import Outcome
from store.calibration import Calibration, Neighbours, key_of
from store.calibrations import save_calibration
from store.connect import Store, open_store
from store.digest import audit_digest, copies_digest
from store.plan import Plan
from store.repository import begin_run, load_run, save_decision
from store.run import FINISHED, Run
from store.scenario import WeightedCell
from tuner.anchors import take_anchors
from tuner.budgeting.budget import fewest_processes
from tuner.consult import begin_engine, consult
from tuner.drivers import refuse_undriven
from tuner.errors import Incomplete
from tuner.job import Job
from tuner.machine import device_key, meet
from tuner.new_run import command_line, new_run, stage_of
from tuner.noise import COPY, noise_of, sigma_0
from tuner.plan import make_plan
from tuner.probe import open_cells, probe_arms
from tuner.progress import Progress
from tuner.race import race
from tuner.rounds.beside import beside_neighbours, refuse_alone
from tuner.rounds.lending import terms_of
from tuner.session import Session
from tuner.session_of import session_of
from tuner.settings import Settings
from tuner.tune import job_of, refuse_hopeless
from tuner.waiting import Wait, take_device

Choice = Callable[[Plan], tuple[WeightedCell, ...]]
Beside = Callable[[Run], Neighbours]


def run_calibrate(
    settings: Settings, processes: int, slowed: Sequence[float] = (), cells: Choice | None = None, neighbours: bool = False
) -> Calibration:
    """Measures the arms and cells that `tune` would, each arm twice, in ``processes`` fresh processes, and stores what that says.

    An unfinished calibration of the same request goes on. ``slowed``: beside them copies with so many more launches, as shares:
    a slowdown of known size, whose rounds are stored and say nothing of the noise. ``cells``: others than the traffic's.
    ``neighbours``: as many processes again while the other visible GPUs are busy.
    """
    refuse_undriven(settings.scenario.engine.name, settings.entries)
    store = open_store(settings.store_url)
    settings = _asked(settings, processes)
    with Progress() as progress, session_of(settings, progress) as session:
        progress.notes(store.notes)
        return _calibrated(settings, store, session, slowed, cells, neighbours)


def _asked(settings: Settings, processes: int) -> Settings:
    measure = replace(settings.scenario.measure, processes=processes)
    return replace(settings, scenario=replace(settings.scenario, measure=measure))


def _calibrated(
    settings: Settings, store: Store, session: Session, slowed: Sequence[float], cells: Choice | None, neighbours: bool
) -> Calibration:
    settings, environment = meet(session, settings)
    begin_engine(session, settings, environment)
    plan = make_plan(settings, environment.releases, consult(session, settings, environment, environment.releases))
    refuse_hopeless(plan)
    owner = f"attnpin calibrate model={plan.scenario.model.name}"
    facts = take_device(session, device_key(environment.board), owner, Wait(settings.wait_for_gpu_s))
    terms = terms_of(settings, environment, owner)
    if neighbours:
        refuse_alone(settings, session, terms)
    begun = new_run(plan, environment, world=settings.world)
    if cells is not None:
        begun = on_cells(begun, cells(plan))
    run = begin_run(store, calibration_run(begun, slowed), settings.fresh)
    _announce(session.progress, run)
    job = replace(job_of(run, plan, store, session, facts, settings.budget_s), everyone=True)
    beside = partial(beside_neighbours, settings, job, terms) if neighbours else None
    return work_off(job, run, plan, beside)


def _announce(progress: Progress, run: Run) -> None:
    originals = [arm for arm in run.arms if arm.is_original]
    probed = sum(not open_cells(arm, run.cells, run.trials, run.exclusions) for arm in originals)
    progress.total(len(originals) + run.scenario.measure.processes, done=probed + len(run.rounds))
    progress.note(f"run {run.id} on {run.environment.board.name}: {', '.join(arm.name for arm in originals)}, each beside its copy")


def on_cells(run: Run, cells: tuple[WeightedCell, ...]) -> Run:
    """Never the run of the traffic's own cells, nor continued by one."""
    return replace(run, cells=cells, digest=audit_digest(run.digest, (weighted.cell for weighted in cells)))


def calibration_run(run: Run, slowed: Sequence[float] = ()) -> Run:
    """With every arm entered again; never the run of a `tune` with the same settings, nor continued by one."""
    copies = [{"copy": COPY}, *({"slowed": share} for share in slowed)]
    arms = (*run.arms, *(replace(arm, **copy) for copy in copies for arm in run.arms))  # type: ignore[arg-type]
    return replace(run, arms=arms, digest=copies_digest(run.digest, arms), command=command_line())


def work_off(job: Job, run: Run, plan: Plan, beside: Beside | None = None) -> Calibration:
    """Raises `Incomplete` where the budget ended too early or every arm failed: the run stays open. ``beside`` tells of neighbours."""
    stage, timing, board = stage_of(plan), run.scenario.measure.timing, run.environment.board
    before = take_anchors(job.session, job.store, stage, timing, board)
    originals = tuple(arm for arm in job.arms if arm.is_original)
    probe_arms(replace(job, arms=originals), run.trials, len(run.rounds))
    run = load_run(job.store, run.id)
    job.keep_trials(copied(run.trials, [arm for arm in run.arms if not arm.is_original]))
    race(job)
    after = take_anchors(job.session, job.store, stage, timing, board)
    run = load_run(job.store, run.id)
    return conclude(run, job.store, (before, after), beside(run) if beside else None)


def copied(trials: Iterable[Trial], copies: Iterable[Arm]) -> list[Trial]:
    """What a probe said of an arm holds of its copy; those that are there already are left out."""
    known = {(trial.arm, trial.cell): trial for trial in trials}
    theirs = [(copy, trial) for copy in copies for trial in known.values() if trial.arm == copy.original_name]
    return [
        replace(trial, arm=copy.name)
        for copy, trial in theirs
        if (copy.name, trial.cell) not in known and trial.outcome is not Outcome.INTERRUPTED
    ]


def conclude(run: Run, store: Store, anchors: tuple[Anchors, ...], neighbours: Neighbours | None = None) -> Calibration:
    noise, fewest = noise_of(run.arms, run.rounds), fewest_processes(run.scenario.measure.processes)
    if not noise or len(run.race) < fewest:
        done = f"{len(run.race)} of at least {fewest} processes were measured"
        raise Incomplete(f"{done}, too few to tell how much times vary; run {run.id} is kept, the same command goes on with it")
    created = datetime.now(UTC).isoformat(timespec="seconds")
    board = key_of(run.environment.board)
    calibration = Calibration(run.id, created, board, run.protocol, sigma_0(noise), noise, anchors, neighbours)
    save_calibration(store, calibration)
    save_decision(store, run.id, None, FINISHED)
    return calibration
