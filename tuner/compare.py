"""`attnpin compare`: two environments in one sitting, pair after pair of fresh processes, until each arm and cell has its verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from reports.outcome_words import ends
from store.comparisons.side_by_side import SideBySide
from store.comparisons.side_by_sides import begin_side_by_side, end_side_by_side, finished_side_by_side, load_side_by_side
from store.database.connect import Store, open_store
from store.errors import RunClosed
from store.runs.run import FINISHED, Run
from store.verdicts.version_verdict import VersionVerdict
from tuner.comparing.begun import OWNER, refuse_incomparable, refuse_untouched, side_by_side, with_noise
from tuner.comparing.both import Both, manners_of, shared_stage
from tuner.comparing.differences import pairs_of
from tuner.comparing.env import Env
from tuner.comparing.judge import rule_of
from tuner.comparing.probed import with_probes
from tuner.comparing.question import refuse_other_questions, refuse_slow_baseline
from tuner.comparing.recorded import judged
from tuner.comparing.rounds import next_pair
from tuner.comparing.side import Side, beside, session_for, settings_for, side_of, with_overlay
from tuner.comparing.sitting_out import needs_more
from tuner.comparing.tuning import choices_of
from tuner.device.keeper import Facts
from tuner.device.machine import device_key
from tuner.device.waiting import Wait, take_device
from tuner.errors import Incomplete
from tuner.job import job_of
from tuner.limiting.drivers import refuse_undriven
from tuner.new_run import stage_of
from tuner.probe import open_cells, probe_arms
from tuner.progress import Progress
from tuner.racing.sieve import measured_trials
from tuner.settings import Settings
from tuner.verdicts.rule import Rule


@dataclass(frozen=True)
class Compared:
    """``unmet``: a sentence for each requirement of what was laid over either side that is not met there."""

    measured: SideBySide
    verdict: VersionVerdict
    unmet: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


Enough = Callable[[SideBySide, Rule], bool]


def run_compare(
    envs: tuple[Env, Env],
    overrides: Sequence[str],
    config_dir: str | None,
    wheels: str | None,
    rule: Rule | None = None,
    enough: Enough | None = None,
    earlier: Sequence[Run] = (),
) -> Compared:
    """``envs``: the baseline, then the candidate. What was compared before, on this board and of these very contents, is answered
    from the store, unless ``fresh``; what was broken off goes on. ``rule`` says when all is told, None = the profile's; ``enough`` may
    end it before, and what is open then is measured once somebody asks for it. What ``earlier`` runs found of the very same arms is not
    probed again."""
    baseline, candidate = (settings_for(env, overrides, config_dir) for env in envs)
    refuse_undriven(baseline.scenario.engine.name, baseline.entries)
    refuse_other_questions(baseline, candidate)
    refuse_slow_baseline(envs[0])
    return compare_as(envs, (baseline, beside(baseline, candidate)), config_dir, wheels, rule, enough, earlier)


def compare_as(
    envs: tuple[Env, Env],
    settings: tuple[Settings, Settings],
    config_dir: str | None,
    wheels: str | None,
    rule: Rule | None = None,
    enough: Enough | None = None,
    earlier: Sequence[Run] = (),
) -> Compared:
    """As `run_compare`, of ``settings`` that have the command and folders of either of ``envs`` already, and not its packages."""
    store = open_store(settings[0].store_url)
    with Progress() as progress, ExitStack() as stack:
        progress.notes(store.notes)
        laid = [with_overlay(env, each, progress, wheels) for env, each in zip(envs, settings)]
        asked = [each.settings for each in laid]
        sessions = [stack.enter_context(session_for(env, settings, progress)) for env, settings in zip(envs, asked)]
        sessions[0].share_quiet(sessions[1])
        baseline, candidate = (side_of(*each) for each in zip(envs, asked, sessions))
        measured = _measured(store, baseline, candidate, progress, rule, enough, earlier)
    return Compared(measured, judged(measured, config_dir), (laid[0].unmet, laid[1].unmet))


def _measured(
    store: Store,
    baseline: Side,
    candidate: Side,
    progress: Progress,
    rule: Rule | None,
    enough: Enough | None,
    earlier: Sequence[Run],
) -> SideBySide:
    refuse_incomparable(baseline, candidate)
    begun = with_noise(store, side_by_side(baseline, candidate))
    refuse_untouched(begun, (baseline.env, candidate.env))
    if known := _known(store, baseline, begun, progress):
        return known
    owner = f"{OWNER} model={baseline.settings.scenario.model.name}"
    key = device_key(baseline.environment.board)
    facts = take_device(baseline.session, key, owner, Wait(baseline.settings.wait_for_gpu_s))
    if known := _known(store, baseline, begun, progress):  # by those we waited for
        return known
    candidate.session.company = baseline.session.company
    measured = begin_side_by_side(store, with_probes(begun, earlier), baseline.settings.fresh)
    whole = True
    with suppress(RunClosed):  # another process at the same comparison has ended it
        whole = work_off(both(measured, store, baseline, candidate, facts), progress, rule or rule_of(measured), enough)
    refuse_empty(load_side_by_side(store, measured.id))
    if whole:
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
    why = f"{failed.arm} {ends(failed.outcome)} on {failed.cell}: {failed.detail}" if failed else "there is no trial"
    raise Incomplete(f"no arm could be measured in the baseline, so nothing is compared: {why}")


def both(measured: SideBySide, store: Store, baseline: Side, candidate: Side, facts: Facts) -> Both:
    stage = shared_stage(baseline) if measured.together else stage_of(baseline.plan)
    sides = ((measured.baseline, baseline), (measured.candidate, candidate))
    jobs = [job_of(run, side.plan, store, side.session, facts, side.settings.budget_s) for run, side in sides]
    old, new = (replace(job, stage=stage, everyone=True) for job in jobs)
    manners = manners_of((baseline.env.slowed, candidate.env.slowed))
    return Both(measured.id, store, (old, new), manners, measured.together, candidate.env.pinned)


def probed(both: Both, measured: SideBySide) -> Both:
    """Each side alone, the baseline first; the candidate chooses as it did from then on, where that is asked for."""
    old, new = both.jobs
    waiting = [arm for arm in new.arms if open_cells(arm, new.cells, measured.candidate.trials, new.exclusions)]
    new.session.expect([waiting[:1]] if waiting else [])
    new.session.import_ahead()
    probe_arms(old, measured.baseline.trials, len(measured.baseline.rounds))
    if both.pinned:
        new = replace(new, choices=choices_of(load_side_by_side(both.store, both.id).baseline.trials))
    probe_arms(new, measured.candidate.trials, len(measured.candidate.rounds))
    return replace(both, jobs=(old, new))


def work_off(both: Both, progress: Progress, rule: Rule, enough: Enough | None = None) -> bool:
    """Probe each side alone, then pairs of processes until the rule says that all is told. False: it was ``enough`` before."""
    measured = load_side_by_side(both.store, both.id)
    probes, pairs = 2 * len(measured.baseline.arms), rule.looks[-1]
    progress.total(probes + pairs)
    both = probed(both, measured)
    progress.total(probes + pairs, done=probes + len(pairs_of(measured)))  # a probe says nothing of how long a pair takes
    while needs_more(measured := load_side_by_side(both.store, both.id), rule):
        if enough is not None and enough(measured, rule):
            return False
        if not next_pair(both, rule):
            break
    return True
