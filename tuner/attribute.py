"""`attnpin compare --attribute`: which of several changes made attention slower, each made alone beside the same baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from packaging.utils import canonicalize_name

from backends.condition import Interest
from store.verdicts.attribution import Alone, Attribution
from store.verdicts.bisection import Standing
from store.verdicts.comparison import Label
from store.verdicts.verdict import Change
from tuner.attributing.conclude import concluded
from tuner.attributing.moves import Move, in_order, moves
from tuner.bisecting.standing import fault_of, standing
from tuner.bisecting.trying import Compare, sure
from tuner.command_line.boundary import say
from tuner.compare import Compared, Enough, run_compare
from tuner.comparing.env import Env
from tuner.comparing.side import session_for, settings_for
from tuner.errors import Incomplete, UsageError
from tuner.progress import Progress

Envs = tuple[Env, Env]


def run_attribute(
    envs: Envs, found: Compared, overrides: Sequence[str], config_dir: str | None, wheels: str | None, observed_loss: float | None
) -> Attribution:
    """``found``: both ``envs`` compared. Each step is a comparison too, stored, and answered from the store when it is asked again."""

    earlier = (found.measured.baseline, found.measured.candidate)

    def compare(pair: Envs, overrides: Sequence[str], enough: Enough) -> Compared:
        say(f"{pair[1].said} beside {pair[0].said}")
        return run_compare(pair, overrides, config_dir, wheels, enough=enough, earlier=earlier)

    places = places_of(envs[1], found.verdict.moved, overrides, config_dir) if envs[1].folders else {}
    return attributed(envs, found, overrides, compare, places, observed_loss)


def places_of(env: Env, changes: Sequence[Change], overrides: Sequence[str], config_dir: str | None) -> Mapping[str, str]:
    """In which of the folders of ``env`` each distribution of ``changes`` lies, by the worker's word; none for one that lies elsewhere."""
    settings = settings_for(env, overrides, config_dir)
    names: dict[str, str] = {canonicalize_name(change.what): change.what for change in changes}
    if settings.world is not None:
        return {}
    with Progress() as progress, session_for(env, settings, progress) as session:
        seen = session.keeper.condition(Interest(tuple(names), (), (), (), env.folders))
    folders = dict(zip(seen.overlays, env.folders))
    first = {each.name: each.folder for each in reversed(seen.installed)}
    return {names[name]: folders[folder] for name, folder in first.items() if name in names and folder in folders}


def attributed(
    envs: Envs, found: Compared, overrides: Sequence[str], compare: Compare, places: Mapping[str, str], observed_loss: float | None
) -> Attribution:
    fault = fault_of(found.verdict)
    order = in_order(found.measured, found.verdict.moved, [arm for arm, _ in fault.keys])
    planned = moves(found.measured, order, envs, places)
    if found.verdict.label is not Label.REGRESSED or len(planned) < 2:
        return concluded(found.verdict, [Alone(each.changes, why=each.why) for each in planned], observed_loss)

    def alone(move: Move) -> Alone:
        if move.env is None:
            return Alone(move.changes, Standing.SKIPPED, move.why)
        try:
            env = replace(move.env, pinned=envs[1].pinned)
            one, (word, why) = sure(compare, (envs[0], env), overrides, lambda its: standing(its.verdict, fault))
        except (UsageError, Incomplete) as error:  # of this change: everything together was compared just so
            return Alone(move.changes, Standing.SKIPPED, str(error))
        return Alone(move.changes, word, why, one.measured.id, one.verdict)

    return concluded(found.verdict, [alone(move) for move in planned], observed_loss)
