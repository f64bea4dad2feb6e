"""`attnpin calibrate`: how much times vary on this board by themselves. Every arm is measured beside its own copy."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from backends.anchored import Anchors
from store.boards.calibration import Calibration, Neighbours, key_of
from store.boards.calibrations import save_calibration
from store.database.connect import Store, open_store
from store.past.history import list_runs
from store.plan import Plan
from store.runs.repository import begin_run, load_run, save_decision
from store.runs.run import FINISHED, Run
from store.scenario import WeightedCell
from tuner.budgeting.budget import fewest_processes
from tuner.calibrating.copies import calibration_run, copied, on_cells
from tuner.calibrating.earlier import with_earlier_probes
from tuner.calibrating.noise import noise_of, sigma_0
from tuner.device.anchors import take_anchors
from tuner.device.machine import device_key, meet
from tuner.device.session import Session
from tuner.device.session_of import session_of
from tuner.device.waiting import Wait, take_device
from tuner.errors import Incomplete
from tuner.job import Job, job_of
from tuner.limiting.drivers import refuse_undriven
from tuner.new_run import new_run, stage_of
from tuner.plan import make_plan
from tuner.planning.consult import begin_engine, consult
from tuner.probe import open_cells, probe_arms
from tuner.progress import Progress
from tuner.race import race
from tuner.rounds.beside import beside_neighbours, refuse_alone
from tuner.rounds.lending import terms_of
from tuner.settings import Settings
from tuner.tune import refuse_hopeless

Choice = Callable[[Plan], tuple[WeightedCell, ...]]
Turn = Callable[[Run, int], Collection[str]]
Staying = Callable[[Run], Collection[str]]
Beside = Callable[[Run], Neighbours]


@dataclass(frozen=True)
class AskedCalibration:
    """``processes`` fresh ones, in each of which every arm is beside its copy and copies that are ``slowed`` by so many more launches, as
    shares: a slowdown of known size, whose rounds are stored and say nothing of the noise. ``cells``: others than the traffic's.
    ``slowed_on``: names of the only cells that are slowed, of the run and of the number of those that the store had before it.
    ``staying``: names of the cells that the next process measures, by what the run has; none = it is over. ``neighbours``: as many
    processes again while the other visible GPUs are busy."""

    processes: int
    slowed: tuple[float, ...] = ()
    cells: Choice | None = None
    slowed_on: Turn | None = None
    staying: Staying | None = None
    neighbours: bool = False


def run_calibrate(settings: Settings, asked: AskedCalibration) -> Calibration:
    """Measures the arms and cells that `tune` would, each arm twice, and stores what that says.

    An unfinished calibration of the same request goes on; what a finished one's probes found within a day is not asked again.
    """
    refuse_undriven(settings.scenario.engine.name, settings.entries)
    store = open_store(settings.store_url)
    settings = _with_processes(settings, asked.processes)
    with Progress() as progress, session_of(settings, progress) as session:
        progress.notes(store.notes)
        return _calibrated(settings, store, session, asked)


def _with_processes(settings: Settings, processes: int) -> Settings:
    measure = replace(settings.scenario.measure, processes=processes)
    return replace(settings, scenario=replace(settings.scenario, measure=measure))


def _calibrated(settings: Settings, store: Store, session: Session, asked: AskedCalibration) -> Calibration:
    settings, environment = meet(session, settings)
    begin_engine(session, settings, environment)
    plan = make_plan(settings, environment.releases, consult(session.keeper, settings, environment, environment.releases))
    refuse_hopeless(plan)
    owner = f"attnpin calibrate model={plan.scenario.model.name}"
    facts = take_device(session, device_key(environment.board), owner, Wait(settings.wait_for_gpu_s))
    terms = terms_of(settings, environment, owner)
    if asked.neighbours:
        refuse_alone(settings, session, terms)
    run = _begun(settings, store, asked, plan, new_run(plan, environment, world=settings.world))
    _announce(session.progress, run, plan)
    job = replace(job_of(run, plan, store, session, facts, settings.budget_s), everyone=True, staying=asked.staying)
    beside = partial(beside_neighbours, settings, job, terms) if asked.neighbours else None
    return work_off(job, run, plan, _slowed_on(asked, store, run), beside)


def _begun(settings: Settings, store: Store, asked: AskedCalibration, plan: Plan, run: Run) -> Run:
    entered = calibration_run(run if asked.cells is None else on_cells(run, asked.cells(plan)), asked.slowed)
    return begin_run(store, entered if settings.fresh else with_earlier_probes(store, entered, datetime.now(UTC)), settings.fresh)


def _slowed_on(asked: AskedCalibration, store: Store, run: Run) -> Collection[str] | None:
    if asked.slowed_on is None:
        return None
    return asked.slowed_on(run, sum(each.id < run.id for each in list_runs(store)))  # a run's id begins with when it was begun


def _announce(progress: Progress, run: Run, plan: Plan) -> None:
    originals = [arm for arm in run.arms if arm.is_original]
    probed = sum(not open_cells(arm, run.cells, run.trials, run.exclusions) for arm in originals)
    progress.total(len(originals) + run.scenario.measure.processes, done=probed + len(run.rounds))
    progress.note(f"run {run.id} on {run.environment.board.name}: {', '.join(arm.name for arm in originals)}, each beside its copy")
    progress.notes(note for note in run.notes if note not in plan.notes)


def work_off(job: Job, run: Run, plan: Plan, slowed_on: Collection[str] | None = None, beside: Beside | None = None) -> Calibration:
    """Raises `Incomplete` where the budget ended too early or every arm failed: the run stays open. ``slowed_on`` as in `copied`;
    ``beside`` tells of neighbours."""
    stage, timing, board = stage_of(plan), run.scenario.measure.timing, run.environment.board
    before = take_anchors(job.session, job.store, stage, timing, board)
    originals = tuple(arm for arm in job.arms if arm.is_original)
    probe_arms(replace(job, arms=originals), run.trials, len(run.rounds))
    run = load_run(job.store, run.id)
    job.keep_trials(copied(run.trials, run.arms, slowed_on))
    race(job)
    after = take_anchors(job.session, job.store, stage, timing, board)
    run = load_run(job.store, run.id)
    return conclude(run, job.store, (before, after), beside(run) if beside else None)


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
