"""`attnpin compare`: two environments in one sitting, pair after pair of fresh processes, until each arm and cell has its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from store.connect import Store, open_store
from store.digest import copies_digest, pair_digest
from store.run import FINISHED, RUNNING, Run
from store.side_by_side import SideBySide
from store.side_by_sides import begin_side_by_side, end_side_by_side, finished_side_by_side, load_side_by_side
from store.version_verdict import VersionVerdict
from tuner.calibrated import noise_floor
from tuner.comparing.both import Both, shared_stage
from tuner.comparing.env import Env
from tuner.comparing.judge import needs_more, rule_of
from tuner.comparing.question import refuse_other_questions
from tuner.comparing.recorded import judged
from tuner.comparing.rounds import next_pair
from tuner.comparing.sameness import other_board
from tuner.comparing.side import Side, beside, session_for, settings_for, side_of, with_overlay
from tuner.errors import Incomplete
from tuner.machine import device_key
from tuner.new_run import command_line, new_id, new_run
from tuner.probe import probe_arms
from tuner.progress import Progress
from tuner.session import Facts
from tuner.settings import Settings
from tuner.sieve import measured_trials
from tuner.tune import job_of, refuse_hopeless
from tuner.verdicts.rule import Rule
from tuner.waiting import Wait, take_device

OWNER = "attnpin compare"


@dataclass(frozen=True)
class Compared:
    """``unmet``: a sentence for each requirement of what was laid over either side that is not met there."""

    measured: SideBySide
    verdict: VersionVerdict
    unmet: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def run_compare(envs: tuple[Env, Env], overrides: Sequence[str], config_dir: str | None, wheels: str | None) -> Compared:
    """``envs``: the baseline, then the candidate. What was compared before, on this board and of these very contents, is answered
    from the store, unless ``fresh``; what was broken off goes on."""
    baseline, candidate = (settings_for(env, overrides, config_dir) for env in envs)
    refuse_other_questions(baseline, candidate)
    return compare_as(envs, (baseline, beside(baseline, candidate)), config_dir, wheels)


def compare_as(envs: tuple[Env, Env], settings: tuple[Settings, Settings], config_dir: str | None, wheels: str | None) -> Compared:
    """As `run_compare`, of ``settings`` that have the command and folders of either of ``envs`` already, and not its packages."""
    store = open_store(settings[0].store_url)
    with Progress() as progress, ExitStack() as stack:
        for note in store.notes:
            progress.note(note)
        laid = [with_overlay(env, each, progress, wheels) for env, each in zip(envs, settings)]
        asked = [each.settings for each in laid]
        sessions = [stack.enter_context(session_for(env, settings, progress)) for env, settings in zip(envs, asked)]
        baseline, candidate = (side_of(*each) for each in zip(envs, asked, sessions))
        measured = _measured(store, baseline, candidate, progress)
    return Compared(measured, judged(measured, config_dir), (laid[0].unmet, laid[1].unmet))


def _measured(store: Store, baseline: Side, candidate: Side, progress: Progress) -> SideBySide:
    refuse_incomparable(baseline, candidate)
    begun = with_noise(store, side_by_side(baseline, candidate))
    if known := _known(store, baseline, begun, progress):
        return known
    owner = f"{OWNER} model={baseline.settings.scenario.model.name}"
    key = device_key(baseline.environment.board)
    facts = take_device(baseline.session, key, owner, Wait(baseline.settings.wait_for_gpu_s))
    if known := _known(store, baseline, begun, progress):  # by those we waited for
        return known
    candidate.session.company = baseline.session.company
    measured = begin_side_by_side(store, begun, baseline.settings.fresh)
    work_off(both(measured, store, baseline, candidate, facts), progress, rule_of(measured))
    refuse_empty(load_side_by_side(store, measured.id))
    end_side_by_side(store, measured.id, FINISHED)
    return load_side_by_side(store, measured.id)


def _known(store: Store, baseline: Side, begun: SideBySide, progress: Progress) -> SideBySide | None:
    known = None if baseline.settings.fresh else finished_side_by_side(store, begun.digest)
    if known:
        progress.note(f"{known.id} of {known.created} compared just these two; fresh=true measures them again")
    return known


def refuse_empty(measured: SideBySide) -> None:
    """Raises `Incomplete` where no arm gave a time in the baseline: there is nothing to compare with, and it stays open."""
    if measured_trials(measured.baseline.trials):
        return
    failed = next(iter(measured.baseline.trials), None)
    why = f"{failed.arm} is {failed.outcome.value} on {failed.cell}: {failed.detail}" if failed else "there is no trial"
    raise Incomplete(f"no arm could be measured in the baseline, so nothing is compared: {why}")


def refuse_incomparable(baseline: Side, candidate: Side) -> None:
    """Raises `Incomplete` for two boards, and where no arm can be measured on both sides."""
    if objection := other_board(baseline.environment, candidate.environment):
        raise Incomplete(f"{objection}; run both on one")
    for side in (baseline, candidate):
        refuse_hopeless(side.plan)
    if not common_arms(baseline, candidate):
        names = [", ".join(arm.name for arm in side.plan.arms) for side in (baseline, candidate)]
        raise Incomplete(f"no arm can be measured on both sides: the baseline has {names[0]}, the candidate {names[1]}; see attnpin plan")


def common_arms(baseline: Side, candidate: Side) -> tuple[str, ...]:
    theirs = {arm.name for arm in candidate.plan.arms}
    return tuple(arm.name for arm in baseline.plan.arms if arm.name in theirs)


def side_by_side(baseline: Side, candidate: Side) -> SideBySide:
    """With nothing measured yet. Both sides take the baseline's cells; arms of one side alone are left out, and said."""
    names, now = common_arms(baseline, candidate), datetime.now(UTC)
    runs = tuple(_run_of(side, baseline, names, letter) for side, letter in ((baseline, "a"), (candidate, "b")))
    return SideBySide(
        id=new_id(now),
        digest=pair_digest(*(run.digest for run in runs)),
        status=RUNNING,
        created=now.isoformat(timespec="seconds"),
        command=command_line(),
        said=(baseline.env.said, candidate.env.said),
        baseline=runs[0],
        candidate=runs[1],
    )


def with_noise(store: Store, begun: SideBySide) -> SideBySide:
    """With what a calibration of the board says of noise, by which it is judged from then on."""
    floor = noise_floor(store, begun.baseline.environment.board)
    return replace(begun, baseline=replace(begun.baseline, noise_floor=floor), candidate=replace(begun.candidate, noise_floor=floor))


def _run_of(side: Side, baseline: Side, names: Sequence[str], letter: str) -> Run:
    run = new_run(side.plan, side.environment, world=side.settings.world)
    arms = tuple(arm for arm in run.arms if arm.name in names)
    alone = [f"{arm.name} can be measured on this side alone and is left out" for arm in run.arms if arm.name not in names]
    digest = copies_digest(f"{OWNER} {letter} {run.digest}", arms)
    return replace(run, digest=digest, arms=arms, cells=baseline.plan.cells, command=command_line(), notes=(*run.notes, *alone))


def both(measured: SideBySide, store: Store, baseline: Side, candidate: Side, facts: Facts) -> Both:
    stage = shared_stage(baseline)
    sides = ((measured.baseline, baseline), (measured.candidate, candidate))
    jobs = [job_of(run, side.plan, store, side.session, facts, side.settings.budget_s) for run, side in sides]
    old, new = (replace(job, stage=stage, everyone=True) for job in jobs)
    return Both(measured.id, store, (old, new))


def work_off(both: Both, progress: Progress, rule: Rule) -> None:
    """Probe each side alone, then pairs of processes until the rule says enough."""
    measured = load_side_by_side(both.store, both.id)
    progress.total(2 * len(measured.baseline.arms) + rule.looks[-1])
    for job, run in zip(both.jobs, (measured.baseline, measured.candidate)):
        probe_arms(job, run.trials, len(run.rounds))
    while needs_more(load_side_by_side(both.store, both.id), rule):
        if not next_pair(both, rule):
            break
