"""From a measured run to a decision. Pure: the same run and rules give the same decision, on any machine, at any time."""

from __future__ import annotations

from importlib import import_module

from store.decision import Decision, Pair, Ruling
from store.run import Run
from tuner.deciding.because import flag_reasons
from tuner.deciding.cautions import cautions
from tuner.deciding.remarks import remarks
from tuner.deciding.results import cell_results, step_models
from tuner.deciding.standing import Standing, detectable, standing_of
from tuner.deciding.ties import backends_of
from tuner.deciding.unset import unset_because

Flags = tuple[tuple[str, str], ...]


def decide(run: Run, without_default: bool = False) -> Decision:
    """What ``run`` says: switch, keep the default, or incomplete because the default was not measured.

    ``without_default`` pins the fastest arm although the default was not measured; it takes two processes at least.
    """
    standing = standing_of(run)
    default, pick = standing.contest.default, standing.choice.pick
    if default is not None and pick in (None, default):
        return _keep(standing, default)
    if pick is None or (default is None and not (without_default and len(run.rounds) > 1)):
        return _incomplete(standing)
    return _switch(standing, pick)


def _keep(standing: Standing, default: Pair) -> Decision:
    """Nothing is pinned but what the user chose."""
    unset = unset_because(standing.contest, default, standing.scores, standing.choice)
    flags = _pin_flags(standing, default)
    return _decision(standing, Ruling.KEEP, default, flags, flag_reasons(standing, default, flags), unset)


def _incomplete(standing: Standing) -> Decision:
    return _decision(standing, Ruling.INCOMPLETE, None, unset=standing.missing)


def _switch(standing: Standing, pick: Pair) -> Decision:
    flags = _pin_flags(standing, pick)
    return _decision(standing, Ruling.SWITCH, pick, flags, flag_reasons(standing, pick, flags), said=remarks(standing, pick))


def _pin_flags(standing: Standing, pick: Pair) -> Flags:
    """The engine's own spelling of a pair of arms."""
    run, contest = standing.run, standing.contest
    rules = import_module(f"tuner.engines.{run.scenario.engine.name}.pick")
    page_size = contest.table.arms[pick.decode].page_size
    scenario = run.scenario
    flags: Flags = rules.pin_flags(backends_of(contest, pick), run.default, page_size, scenario.engine, scenario.model.architecture)
    return flags


def _decision(
    standing: Standing,
    ruling: Ruling,
    pick: Pair | None,
    flags: Flags = (),
    because: Flags = (),
    unset: str | None = None,
    said: tuple[str, ...] = (),
) -> Decision:
    run, contest, choice = standing.run, standing.contest, standing.choice
    return Decision(
        ruling=ruling,
        default=contest.default,
        default_because=run.default.because,
        pick=pick,
        tie_set=choice.tie_set,
        flags=flags,
        because=because,
        unset_because=unset,
        scores=standing.scores,
        cells=cell_results(contest),
        steps=step_models(contest, contest.default or choice.leader),
        minimum_detectable_effect=detectable(standing),
        cautions=(*said, *cautions(run, contest, (pick, contest.default))),
    )
