"""Upgrades of several distributions at once whose effects are known, in the place of measuring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from backends.environment import Distribution, Environment
from store.verdicts.attribution import Attribution
from tests.store.building import a_run, environment
from tests.tuner.comparing.made import compared
from tuner.attribute import attributed
from tuner.compare import Compared, Enough
from tuner.comparing.env import Env, env_of
from tuner.comparing.judge import judge
from tuner.verdicts.rule import rule_for

RUN = a_run(arms=3)
FA3, FLASHINFER, TRITON = (arm.name for arm in RUN.arms)
IMPORTS = {"flashinfer-python": "flashinfer", "torch": "torch", "triton": "triton", "sglang-kernel": "fa3", "apache-tvm-ffi": "tvm_ffi"}
ENOUGH, TOO_FEW = 9, 4
PRESENT = env_of("present")

Versions = Mapping[str, str | None]  # None = absent
Effects = Mapping[str, Mapping[str, float]]  # of a distribution on arms: slower by a fraction


def installed(versions: Versions) -> Environment:
    present = {name: version for name, version in versions.items() if version is not None}
    found = tuple(Distribution(name, version, f"sha256:{version}") for name, version in sorted(present.items()))
    imports = tuple((IMPORTS.get(name, name), name) for name in present)
    return replace(environment(), distributions=found, imports=imports)


@dataclass
class Upgrade:
    """``effects`` of the new version of each distribution; only those of ``pairs`` together where that is given. ``raises``: what
    moving a distribution alone raises. ``folders``: which distributions a folder of the candidate holds."""

    before: Versions
    after: Versions
    effects: Effects = field(default_factory=dict)
    together: Effects = field(default_factory=dict)
    raises: Mapping[str, Exception] = field(default_factory=dict)
    folders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rounds: int = ENOUGH
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def whole(self) -> Compared:
        return self._compared(self.after, {**self.effects, **self.together})

    def compare(self, envs: tuple[Env, Env], overrides: Sequence[str], _: Enough) -> Compared:
        named = [package.partition("==")[0] for package in envs[1].packages]
        laid = [name for folder in envs[1].folders for name in self.folders.get(folder, ())]
        moved = tuple(dict.fromkeys([*named, *laid]))
        self.asked.append(moved)
        for name in moved:
            if name in self.raises:
                raise self.raises[name]
        versions = {name: self.after.get(name) if name in moved else version for name, version in self.before.items()}
        added = {name: version for name, version in self.after.items() if name in moved}
        return self._compared({**versions, **added}, {name: self.effects[name] for name in moved if name in self.effects})

    def attributed(self, baseline: Env = PRESENT, candidate: Env = PRESENT, observed_loss: float | None = None) -> Attribution:
        places = {name: folder for folder, names in self.folders.items() for name in names}
        return attributed((baseline, candidate), self.whole(), ("measure=release",), self.compare, places, observed_loss)

    def _compared(self, versions: Versions, effects: Effects) -> Compared:
        slower = {arm: sum(math.log1p(its.get(arm, 0.0)) for its in effects.values()) for arm in (FA3, FLASHINFER, TRITON)}
        measured = compared(RUN, self.rounds, lambda side, arm, cell, block, place: math.log(100) + side * slower[arm])
        old, new = (
            replace(run, environment=installed(each)) for run, each in ((measured.baseline, self.before), (measured.candidate, versions))
        )
        measured = replace(measured, id="-".join(sorted(effects)) or "none", baseline=old, candidate=new)
        return Compared(measured, judge(measured, rule_for("gate")))
