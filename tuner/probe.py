"""Each arm alone in its own process: does it load, compile, answer right, capture, and how slow is it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from backends.arm import Arm
from backends.cell import Cell
from backends.measured import Trial
from backends.outcome import Outcome
from backends.wire import from_plain
from store.runs.repository import load_run
from store.scenario import Exclusion, WeightedCell
from tuner.budgeting.rationing import admits
from tuner.deciding.ceiling import too_low
from tuner.device.patience import Patience
from tuner.job import Job
from tuner.limits import serves
from tuner.racing.hung import spared
from tuner.racing.sieve import entrants
from tuner.workers.events import Event
from tuner.workers.failure import WorkerFailed


def probe_arms(job: Job, known: Iterable[Trial], rounds: int, coming: Sequence[Sequence[Arm]] | None = None) -> tuple[Trial, ...]:
    """Probe every arm on the cells that ``known`` does not settle yet; each answer is stored as it comes.

    Returns the settled trials of all arms. An arm that was interrupted is probed again; one that the budget has no room for,
    with ``rounds`` measured already, is not. None is once the default's probe shows that no kernel could win enough. ``coming``: the
    arms of each process after these, where that is not a race of those that are probed here.
    """
    trials = [trial for trial in known if trial.outcome is not Outcome.INTERRUPTED]
    for place, arm in enumerate(job.arms):
        if not job.everyone and too_low(load_run(job.store, job.run_id)):
            break
        job.session.expect(_foreseen(job, place, trials, coming))
        if (missing := open_cells(arm, job.cells, trials, job.exclusions)) and admits(job, arm, trials, rounds):
            with job.budget.timed("probe"):
                trials += probe_arm(job, arm, missing)
            job.session.progress.step()
    return tuple(trials)


def _foreseen(job: Job, place: int, trials: Sequence[Trial], coming: Sequence[Sequence[Arm]] | None) -> tuple[Sequence[Arm], ...]:
    """The arms probed after the one at ``place``, each alone; after the last ``coming``, else those that will race by what is known, or if
    all goes well."""
    probes = tuple((arm,) for arm in job.arms[place + 1 :] if open_cells(arm, job.cells, trials, job.exclusions))
    if coming is not None:
        return (*probes, *coming)
    racing = job.arms if job.everyone else tuple(each.arm for each in entrants(job.arms, job.cells, tuple(trials), job.default))
    return (*probes, racing) if racing else probes


def open_cells(arm: Arm, cells: Iterable[WeightedCell], trials: Iterable[Trial], exclusions: Iterable[Exclusion] = ()) -> tuple[Cell, ...]:
    """Those of ``cells`` on which ``arm`` has no answer yet (an interrupted trial is none), in the phases it is not excluded from."""
    barred = tuple(exclusions)
    settled = {trial.cell for trial in trials if trial.arm == arm.name and trial.outcome is not Outcome.INTERRUPTED}
    return tuple(weighted.cell for weighted in cells if weighted.cell.name not in settled and serves(arm, weighted.cell.phase, barred))


def probe_arm(job: Job, arm: Arm, cells: tuple[Cell, ...]) -> list[Trial]:
    """``arm`` on ``cells``. A process that dies costs the cell it worked on; the others get a fresh process, unless it was ended for its
    silence: then those of its phase are not tried.

    Raises `MeasurementInvalid` when it is interrupted again and again.
    """
    trials: list[Trial] = []
    patience = Patience(f"the probe of {arm.name}")
    while remaining := cells_without(trials, cells):
        answered, failure = _one_process(job, arm, remaining)
        trials += answered
        if failure is not None and failure.outcome is Outcome.INTERRUPTED:
            patience.bear(failure)
            job.session.progress.note(f"the probe of {arm.name} broke off: {failure.detail}; it is run again")
        elif failure is not None:
            lost = _lost_cells(failure, trials, cells_without(trials, cells))
            trials += _kept(job, [Trial(arm.name, cell.name, failure.outcome, failure.detail) for cell in lost])
            trials += _kept(job, [*spared(failure, arm.name, lost, cells_without(trials, cells))])
        elif not answered:
            raise RuntimeError(f"the worker ended its probe of {arm.name} without a word on {remaining[0].name}")
    _say_outcome(job, arm, trials)
    return trials


def cells_without(trials: Iterable[Trial], cells: Iterable[Cell]) -> tuple[Cell, ...]:
    done = {trial.cell for trial in trials}
    return tuple(cell for cell in cells if cell.name not in done)


def _one_process(job: Job, arm: Arm, cells: tuple[Cell, ...]) -> tuple[list[Trial], WorkerFailed | None]:
    trials: list[Trial] = []
    job.session.clock.enter("import")
    try:
        with job.session.worker([arm]) as worker:
            for event in worker.ask(job.question("trial", cells, arm=arm)):
                job.hear(event, f"probing {arm.name}")
                if event["event"] == "trial":
                    trials += _kept(job, [_trial_of(event)])
    except WorkerFailed as failure:
        return trials, failure
    return trials, None


def _trial_of(event: Event) -> Trial:
    """With the kernel files that its process has used so far."""
    return replace(from_plain(Trial, event["trial"]), kernel_files=from_plain(tuple[tuple[str, str], ...], event["kernel_files"]))


def _lost_cells(failure: WorkerFailed, trials: list[Trial], open_cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The cell the worker died on; none when that was told before it died; all that are open when it came to no cell."""
    if any(trial.cell == failure.cell for trial in trials):
        return ()
    return tuple(cell for cell in open_cells if cell.name == failure.cell) or open_cells


def _kept(job: Job, trials: list[Trial]) -> list[Trial]:
    job.keep_trials(trials)
    return trials


def _say_outcome(job: Job, arm: Arm, trials: list[Trial]) -> None:
    failed = [trial for trial in trials if trial.outcome is not Outcome.MEASURED]
    if failed:
        where = "every cell" if len(failed) == len(job.cells) else ", ".join(trial.cell for trial in failed)
        job.session.progress.note(f"{arm.name}: {failed[0].outcome.value} on {where}: {failed[0].detail}")
