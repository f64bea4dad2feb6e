"""From a measured run to a decision. Pure: the same run and rules give the same decision, on any machine, at any time."""

from __future__ import annotations

from dataclasses import replace

from store.decision import Decision, Pair, Ruling
from store.runs.run import Run
from tuner.deciding.because import flag_reasons
from tuner.deciding.cautions import cautions
from tuner.deciding.ceiling import Ceiling, too_low
from tuner.deciding.confirmation import UNCONFIRMED, refuted, with_fresh_numbers
from tuner.deciding.given_up import given_up
from tuner.deciding.knob_flags import knob_flags, knob_variables
from tuner.deciding.remarks import remarks
from tuner.deciding.results import cell_results, step_models
from tuner.deciding.robustness import robustness
from tuner.deciding.scores import ratio
from tuner.deciding.sensitivity import sensitivities, turned_elsewhere
from tuner.deciding.split import split_of
from tuner.deciding.spread import said_of_boards, spread_of
from tuner.deciding.standing import Standing, detectable, standing_of
from tuner.deciding.ties import backends_of
from tuner.deciding.unset import passed_over, unset_because
from tuner.engines.lookup import rules_of

Flags = tuple[tuple[str, str], ...]
CEILING = "no kernel could win enough here"


def decide(run: Run, without_default: bool = False) -> Decision:
    """What ``run`` says: switch, keep the default, or incomplete because the default was not measured.

    ``without_default`` pins the fastest arm although the default was not measured; it takes two processes at least.
    """
    standing = standing_of(run)
    if not run.race and (ceiling := too_low(run)):
        return _nothing_to_win(standing, ceiling)
    default, pick = standing.contest.default, standing.choice.pick
    if default is not None and pick in (None, default):
        return _keep(standing, default)
    if pick is None or (default is None and not (without_default and len(run.race) > 1)):
        return _incomplete(standing)
    confirmed = with_fresh_numbers(standing, pick)
    lost = refuted(standing, confirmed, pick)
    return _keep(standing, default, lost) if default is not None and lost else _switch(confirmed, pick)


def _keep(standing: Standing, default: Pair, lost: str | None = None) -> Decision:
    """Nothing is pinned but what the user chose. ``lost``: what was to be pinned and did not hold."""
    unset = unset_because(standing.contest, default, standing.scores, standing.choice, lost)
    flags, cost = _pin_flags(standing, default), given_up(standing, default, passed_over(standing.contest, standing.scores))
    return _decision(standing, Ruling.KEEP, default, flags, flag_reasons(standing, default, flags), unset, (cost,) if cost else ())


def _nothing_to_win(standing: Standing, ceiling: Ceiling) -> Decision:
    sentence = ceiling.sentence(standing.contest.rules.min_gain)
    flags = _pin_flags(standing, ceiling.default)
    because = tuple((flag, f"your choice, kept: {CEILING}") for flag, _ in flags)
    return replace(_decision(standing, Ruling.KEEP, ceiling.default, flags, because, f"unset, because {sentence}"), default=ceiling.default)


def _incomplete(standing: Standing) -> Decision:
    return _decision(standing, Ruling.INCOMPLETE, None, unset=standing.missing)


def _switch(standing: Standing, pick: Pair) -> Decision:
    flags, variables = _pin_flags(standing, pick), knob_variables(standing.contest.table, pick)
    said = (*remarks(standing, pick), *([UNCONFIRMED] if standing.fresh is None else []))
    because = flag_reasons(standing, pick, (*flags, *variables))
    return replace(_decision(standing, Ruling.SWITCH, pick, flags, because, said=said), variables=variables)


def _pin_flags(standing: Standing, pick: Pair) -> Flags:
    """The engine's own spelling of a pair of arms, and of its knobs. A variable stands beside the backend that reads it, named even
    where it is the default's."""
    run, contest = standing.run, standing.contest
    default = run.default
    if knob_variables(contest.table, pick) and pick != contest.default:
        default = replace(default, prefill="", decode="")
    page_size = contest.table.arms[pick.decode].page_size
    scenario = run.scenario
    pair, architecture = backends_of(contest, pick), scenario.model.architecture
    flags = rules_of(scenario).pin_flags(pair, default, page_size, scenario.engine, architecture)
    return (*flags, *knob_flags(contest.table, pick))


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
    elsewhere = sensitivities(run, contest.table, pick.decode if pick else None)
    spread = spread_of(contest, pick, standing.compared)
    first = (*turned_elsewhere(run, elsewhere), *said_of_boards(run, spread))
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
        cells=cell_results(contest, standing.fresh, pick),
        steps=step_models(contest, contest.default or choice.leader),
        minimum_detectable_effect=detectable(standing),
        cautions=(*said, *cautions(run, contest, (pick, contest.default), first)),
        best_set=choice.best_set,
        chosen_at=ratio(contest, pick, contest.default) if standing.fresh and pick and contest.default else None,
        sensitivity=elsewhere,
        split=split_of(contest, standing.scores),
        robustness=robustness(contest, pick, standing.scores, run.scenario.traffic.recorded),
        spread=spread,
    )
