"""Each difference between two environments made alone: in which order, and in which environment. Pure.

Order: what a slower arm imports, what every arm runs on (torch and its compiler), what other arms import, then what touches none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from store.comparisons.side_by_side import SideBySide
from store.verdicts.verdict import Change
from tuner.comparing.env import Env
from tuner.comparing.sameness import EVERYTHING

SETTINGS = "settings"


@dataclass(frozen=True)
class Move:
    """``changes`` made to the baseline in ``env``; None = it cannot be built, for the reason ``why``."""

    changes: tuple[Change, ...]
    env: Env | None
    why: str | None = None


def in_order(measured: SideBySide, changes: Iterable[Change], slower: Iterable[str]) -> tuple[Change, ...]:
    """``slower``: names of arms. What is no distribution comes last."""
    return tuple(sorted(changes, key=lambda change: _rank(measured, change, frozenset(slower))))


def _rank(measured: SideBySide, change: Change, slower: frozenset[str]) -> int:
    if not is_distribution(measured, change):
        return 4
    if change.touches == EVERYTHING:
        return 1
    return 0 if slower.intersection(change.touches) else 2 if _arms(measured).intersection(change.touches) else 3


def is_distribution(measured: SideBySide, change: Change) -> bool:
    return any(change.what == each.name for run in (measured.baseline, measured.candidate) for each in run.environment.distributions)


def _arms(measured: SideBySide) -> frozenset[str]:
    return frozenset(arm.name for arm in measured.baseline.arms)


def moves(measured: SideBySide, changes: Iterable[Change], envs: tuple[Env, Env], places: Mapping[str, str]) -> tuple[Move, ...]:
    """``places``: in which of the candidate's folders a distribution lies, by name; those of one folder move together. Settings that
    are the candidate's own come first."""
    found: dict[str, Move] = {}
    for change in changes:
        key = places.get(change.what, f"{change.what} alone")
        made = _move(measured, change, envs, places.get(change.what))
        found[key] = replace(found[key], changes=(*found[key].changes, change)) if key in found else made
    return (*_settings(*envs), *found.values())


def _settings(baseline: Env, candidate: Env) -> Iterator[Move]:
    if baseline.overrides != candidate.overrides:
        old, new = (" ".join(env.overrides) or None for env in (baseline, candidate))
        env = replace(baseline, said=f"{baseline.said} with {new or 'no settings of its own'}", overrides=candidate.overrides)
        yield Move((Change(SETTINGS, old, new, EVERYTHING),), env)


def _move(measured: SideBySide, change: Change, envs: tuple[Env, Env], folder: str | None) -> Move:
    baseline, candidate = envs
    if folder is not None:
        said = f"{baseline.said} after {folder}"
        return Move((change,), replace(baseline, said=said, folders=(folder, *baseline.folders)))
    if why := _obstacle(measured, change):
        return Move((change,), None, why)
    asked = next(_requirements(candidate.packages, change.what), f"{change.what}=={change.after}")
    kept = tuple(each for each in baseline.packages if each not in set(_requirements(baseline.packages, change.what)))
    return Move((change,), replace(baseline, said=f"{baseline.said} with {asked}", packages=(*kept, asked)))


def _obstacle(measured: SideBySide, change: Change) -> str | None:
    if not is_distribution(measured, change):
        return "it is no distribution that could be laid over the baseline"
    if change.after is None:
        return "the candidate has none of it, and it cannot be taken out of the baseline alone"
    if " " in change.after:
        return "both sides have one version of it with other contents, which no index tells apart"
    return None


def _requirements(packages: Iterable[str], name: str) -> Iterator[str]:
    wanted = canonicalize_name(name)
    yield from (each for each in packages if canonicalize_name(Requirement(each).name) == wanted)
