"""`attnpin compare`: two environments in one sitting, pair after pair of fresh processes, until each arm and cell has its verdict."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from store.calibrations import calibration_for
from store.connect import Store, open_store
from store.digest import copies_digest, pair_digest
from store.run import FINISHED, PROTOCOL_VERSION, RUNNING, Run
from store.side_by_side import SideBySide
from store.side_by_sides import begin_side_by_side, end_side_by_side, finished_side_by_side, load_side_by_side
from store.version_verdict import VersionVerdict
from tuner.comparing.both import Both, shared_stage
from tuner.comparing.env import Env
from tuner.comparing.judge import judge, needs_more
from tuner.comparing.rounds import next_pair
from tuner.comparing.sameness import other_board
from tuner.comparing.side import Side, beside, session_for, settings_for, side_of, with_overlay
from tuner.errors import Incomplete
from tuner.machine import device_key
from tuner.new_run import new_run
from tuner.probe import probe_arms
from tuner.progress import Progress
from tuner.session import Facts
from tuner.sieve import measured_trials
from tuner.tune import job_of, refuse_hopeless
from tuner.verdicts.rule import Rule, rule_for
from tuner.waiting import Wait, take_device

OWNER = "attnpin compare"


@dataclass(frozen=True)
class Compared:
    measured: SideBySide
    verdict: VersionVerdict


def run_compare(envs: tuple[Env, Env], overrides: Sequence[str], config_dir: str | None, wheels: str | None) -> Compared:
    """``envs``: the baseline, then the candidate. What was compared before, on this board and of these very contents, is answered
    from the store, unless ``fresh``; what was broken off goes on."""
    asked = [settings_for(env, overrides, config_dir) for env in envs]
    asked[1] = beside(*asked)
    store = open_store(asked[0].store_url)
    with Progress() as progress, ExitStack() as stack:
        for note in store.notes:
            progress.note(note)
        asked = [with_overlay(env, settings, progress, wheels) for env, settings in zip(envs, asked)]
        sessions = [stack.enter_context(session_for(env, settings, progress)) for env, settings in zip(envs, asked)]
        baseline, candidate = (side_of(*each) for each in zip(envs, asked, sessions))
        measured = _measured(store, baseline, candidate, progress)
    return Compared(measured, judge(measured, rule_on(store, measured.baseline)))


def rule_on(store: Store, run: Run) -> Rule:
    """Of the run's profile, with what a calibration of its board says of noise."""
    known = calibration_for(store, run.environment.board, PROTOCOL_VERSION, datetime.now(UTC))
    profile = run.scenario.measure.profile
    return rule_for(profile) if known is None else rule_for(profile, known.sigma_0, any(each.two_mode for each in known.noise))


def _measured(store: Store, baseline: Side, candidate: Side, progress: Progress) -> SideBySide:
    refuse_incomparable(baseline, candidate)
    begun = side_by_side(baseline, candidate)
    if not baseline.settings.fresh and (known := finished_side_by_side(store, begun.digest)):
        progress.note(f"{known.id} of {known.created} compared just these two; fresh=true measures them again")
        return known
    owner = f"{OWNER} model={baseline.settings.scenario.model.name}"
    key = device_key(baseline.environment.board)
    facts = take_device(baseline.session, key, owner, Wait(baseline.settings.wait_for_gpu_s))
    candidate.session.company = baseline.session.company
    measured = begin_side_by_side(store, begun, baseline.settings.fresh)
    work_off(both(measured, store, baseline, candidate, facts), progress, rule_on(store, measured.baseline))
    refuse_empty(load_side_by_side(store, measured.id))
    end_side_by_side(store, measured.id, FINISHED)
    return load_side_by_side(store, measured.id)


def refuse_empty(measured: SideBySide) -> None:
    """Raises `Incomplete` where no arm gave a time in the baseline: there is nothing to compare with, and it stays open."""
    if measured_trials(measured.baseline.trials):
        return
    failed = next((trial for trial in measured.baseline.trials), None)
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
        id=f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        digest=pair_digest(*(run.digest for run in runs)),
        status=RUNNING,
        created=now.isoformat(timespec="seconds"),
        command=shlex.join(["attnpin", *sys.argv[1:]]),
        said=(baseline.env.said, candidate.env.said),
        baseline=runs[0],
        candidate=runs[1],
    )


def _run_of(side: Side, baseline: Side, names: Sequence[str], letter: str) -> Run:
    run = new_run(side.plan, side.environment, world=side.settings.world)
    arms = tuple(arm for arm in run.arms if arm.name in names)
    alone = [f"{arm.name} can be measured on this side alone and is left out" for arm in run.arms if arm.name not in names]
    command = shlex.join(["attnpin", *sys.argv[1:]])
    digest = copies_digest(f"{OWNER} {letter} {run.digest}", arms)
    return replace(run, digest=digest, arms=arms, cells=baseline.plan.cells, command=command, notes=(*run.notes, *alone))


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
