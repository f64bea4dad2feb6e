"""Comparisons whose truth is known, for the tests of whatever judges one."""

from __future__ import annotations

import math
from dataclasses import replace

from store.comparisons.side_by_side import SideBySide
from tests.bench.upgrades.measure import CANDIDATES, ORACLE_PAIRS, ORACLE_SEED
from tests.store.building import a_run, environment
from tests.tuner.comparing.made import Times, compared
from tuner.comparing.env import PRESENT

RUN = a_run(arms=2, cells=2)
UPGRADED = RUN.arms[1].name  # flashinfer
PAIRS = 9


def same(change: float = 0.0, seed: int = 1) -> SideBySide:
    return _named(f"same-{seed}-{change}", (PRESENT, PRESENT), _seeded(compared(RUN, PAIRS, _times(1 + change)), seed))


def slowed(seed: int = 1) -> SideBySide:
    return _named(f"slowed-{seed}", (PRESENT, CANDIDATES["slowed"]), _seeded(compared(RUN, PAIRS, _times(1.05)), seed))


def upgrade(factor: float, is_oracle: bool = False) -> SideBySide:
    """Of FlashInfer, which makes its own arm slower by ``factor``."""
    made = compared(RUN, ORACLE_PAIRS if is_oracle else PAIRS, _times(factor, UPGRADED))
    made = replace(made, candidate=replace(made.candidate, environment=environment("0.7.1")))
    name = f"{'oracle' if is_oracle else 'contest'}-{factor}"
    return _named(name, ("flashinfer-python==0.6.14", "flashinfer-python==0.7.1"), _seeded(made, ORACLE_SEED if is_oracle else 0))


def _times(factor: float, only: str | None = None) -> Times:
    def at(side: int, arm: str, cell: str, block: int, place: int) -> float:
        return math.log(100) + (side * math.log(factor) if only in (None, arm) else 0.0)

    return at


def _seeded(measured: SideBySide, seed: int) -> SideBySide:
    scenario = measured.baseline.scenario
    asked = replace(scenario, measure=replace(scenario.measure, seed=seed, profile="gate"))
    return replace(measured, baseline=replace(measured.baseline, scenario=asked), candidate=replace(measured.candidate, scenario=asked))


def _named(name: str, said: tuple[str, str], measured: SideBySide) -> SideBySide:
    return replace(measured, id=name, said=said)
