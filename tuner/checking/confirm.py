"""Both versions side by side: whether the old ones can be had, what to measure of them, and what that says of what is served. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from store.verdicts.comparison import Label
from store.verdicts.verdict import Change
from store.verdicts.version_verdict import Row, VersionVerdict
from tuner.checking.resting import Resting
from tuner.comparing.env import Env
from tuner.comparing.judge import GRAVITY
from tuner.settings import Settings

FOLLOWS_TORCH = "CUDA"  # of the build of torch
PROFILES = ("gate", "release")  # `quick` looks once, which finds large changes alone

PRESENT = Env("present")


class NotToBeHad(Exception):
    """The sentence why the old versions cannot stand beside the new ones."""


def old_versions(then: Run, changes: Sequence[Change]) -> Env:
    """The environment of the pin as far as ``changes`` moved it, laid over the present one. Raises `NotToBeHad`."""
    versions = {each.name: each.version for each in then.environment.distributions}
    moved = [change for change in changes if change.what in versions]
    others = [change.what for change in changes if change.what not in versions and not (change.what == FOLLOWS_TORCH and moved)]
    if others:
        raise NotToBeHad(f"{', '.join(others)} changed too, which no folder of packages can set back")
    if rebuilt := [change.what for change in moved if change.after and change.after.startswith(f"{versions[change.what]} (")]:
        raise NotToBeHad(f"{', '.join(rebuilt)} has the version of then and other contents, which no version number brings back")
    packages = tuple(f"{change.what}=={versions[change.what]}" for change in moved)
    return Env(",".join(packages), packages=packages)


def beside_each_other(settings: Settings, now: Run, rests: Resting) -> Settings:
    """``settings`` of the pin's scenario with no more arms than what is in question and those that were its controls."""
    measure = settings.scenario.measure
    names = {arm for _, arm in rests.at_stake}
    untouched = [arm.backend for arm in now.arms if arm.name not in rests.touched][:1]
    backends = (*(arm.backend for arm in now.arms if arm.name in names), *untouched)
    profile = measure.profile if measure.profile in PROFILES else PROFILES[0]
    narrowed = replace(measure, profile=profile, backends=tuple(dict.fromkeys(backends)), sensitivity=())
    return replace(settings, scenario=replace(settings.scenario, measure=narrowed))


def served_rows(measured: SideBySide, verdict: VersionVerdict, rests: Resting) -> tuple[Row, ...]:
    """Of what is served and touched, each arm on the cells of its phase."""
    phases = {weighted.cell.name: weighted.cell.phase for weighted in measured.baseline.cells}
    return tuple(row for row in verdict.rows if row.cell and not row.control and (phases[row.cell], row.arm) in rests.at_stake)


def label_of(measured: SideBySide, verdict: VersionVerdict, rests: Resting) -> Label:
    """The gravest of `served_rows`; an arm that is not to be had any more has regressed."""
    phases = {weighted.cell.name: weighted.cell.phase for weighted in measured.baseline.cells}
    labels = {row.verdict.label for row in served_rows(measured, verdict, rests)}
    if any((phases[each.cell], each.arm) in rests.at_stake for each in verdict.broken):
        labels.add(Label.REGRESSED)
    return next((label for label in GRAVITY if label in labels), Label.INCONCLUSIVE)
