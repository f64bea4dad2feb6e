"""Comparisons of releases whose truth is known, in the place of measuring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from backends.measured import Trial
from backends.outcome import Outcome
from store.verdicts.bisection import Bisection
from tests.store.building import a_trial, environment
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import RUN, times
from tuner.bisect import bisected
from tuner.bisecting.releases import Asked, line_of
from tuner.compare import Compared, Enough
from tuner.comparing.env import Env
from tuner.comparing.judge import judge
from tuner.unmeasured.regressions import load_regressions
from tuner.verdicts.rule import rule_for

DIST = "flashinfer-python"
KNOWN = load_regressions()
ENOUGH, TOO_FEW = 9, 4  # pairs; a change is not claimed of four
FLASHINFER = RUN.arms[1].name

Truth = float | Exception | Outcome | str  # slower by a fraction; raised; what becomes of the arm; "noisy"


@dataclass
class Player:
    """Answers as `run_compare`; "noisy" releases can be told only with ``measure=release``, and are as good as the good one then."""

    truths: Mapping[str, Truth]
    unmet: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)

    def compare(self, envs: tuple[Env, Env], overrides: Sequence[str], _: Enough) -> Compared:
        release = envs[1].said.partition("==")[2]
        assert envs[0].said == f"{DIST}==0.5.3"
        self.asked.append(release)
        truth = self.truths[release]
        if isinstance(truth, Exception):
            raise truth
        noisy = truth in ("noisy", "never told") and not (truth == "noisy" and "measure=release" in overrides)
        change = truth if isinstance(truth, float) else 0.05 if noisy else 0.0
        trials = tuple(a_trial(RUN, 1, cell) for cell in range(len(RUN.cells)))
        after = tuple(_failed(trial, truth) for trial in trials) if isinstance(truth, Outcome) else trials
        rounds = 0 if isinstance(truth, Outcome) else TOO_FEW if noisy else ENOUGH
        measured = compared(RUN, rounds, times(math.log1p(change)), [FLASHINFER])
        sides = ((measured.baseline, "0.5.3", trials), (measured.candidate, release, after))
        old, new = (replace(run, environment=environment(version), trials=its, arms=RUN.arms[1:]) for run, version, its in sides)
        measured = replace(measured, id=f"c-{release}", baseline=old, candidate=new)
        return Compared(measured, judge(measured, rule_for("gate"), KNOWN), ((), self.unmet))


def _failed(trial: Trial, outcome: Outcome) -> Trial:
    return replace(trial, outcome=outcome, detail="it is gone", cost=None, identity=None, rms_error=None)


def played(truths: Mapping[str, Truth], bad: str, until_good: str | None = None, **more: tuple[str, ...]) -> tuple[Bisection, Player]:
    """``truths`` of all releases after the good one, 0.5.3, up to the last."""
    player = Player(truths, **more)
    line = line_of(Asked(DIST, "0.5.3", bad, until_good), ("0.5.3", *truths))
    return bisected(line, ("measure=gate",), player.compare), player
