"""What committed runs say of a backend with a feature: a time, or how it was lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from backends.arm import Arm
from backends.cell import Cell
from backends.deviation import Step, known_on, step_of
from backends.measured import Trial
from backends.outcome import Outcome
from store.runs.run import DefaultPick, Run
from store.scenario import Scenario, WeightedCell
from tests.examples import folders
from tests.pages.coverage.features import DECODE, FRESH, MHA, PREFIX, VERIFY, settings_of, shown
from tests.pages.sources import example
from tuner.limits import sift

PLACES = {Step.VERIFY: VERIFY, Step.DECODE: DECODE, Step.PREFIX: PREFIX, Step.FRESH: FRESH}
FIRST = ("decode-64", "prefill-fresh", "prefill-prefix")  # cells that stand for their place where a run has them


@dataclass(frozen=True)
class Seen:
    """``us``: of one call, None where the arm was ``lost``. ``raced`` in several processes, not looked at in one. ``usual``: on a cell that
    stands for its place; ``share`` of the run's steps of that phase. ``known``: what is declared of the backend there, where it was lost
    for a wrong answer."""

    example: str
    arm: str
    cell: str
    us: float | None
    raced: bool
    lost: str | None
    usual: bool
    share: float
    known: str | None = None


def place_of(cell: Cell) -> str:
    """A verify step has one of its own, whichever side serves it."""
    return PLACES[step_of(cell)]


@cache
def seen() -> dict[tuple[str, str, str], Seen]:
    """By backend, feature and place, the best evidence for each."""
    found: dict[tuple[str, str, str], Seen] = {}
    for backend, feature, place, evidence in _all():
        before = found.get((backend, feature, place))
        if before is None or _tells_more(evidence, before):
            found[backend, feature, place] = evidence
    return found


def _tells_more(new: Seen, old: Seen) -> bool:
    """Shares are compared within a run alone, so that what stands side by side comes from as few as possible."""
    ranks = [(each.us is not None, each.raced, each.usual, each.share if new.example == old.example else 0.0) for each in (new, old)]
    return ranks[0] > ranks[1]


def _all() -> Iterator[tuple[str, str, str, Seen]]:
    for folder in folders():
        run, times = example(folder.name)
        cells, arms = {each.cell.name: each for each in run.cells}, {arm.name: arm for arm in run.arms}
        for trial in run.trials:
            if trial.cell in cells and trial.arm in arms:
                weighted, arm = cells[trial.cell], arms[trial.arm]
                evidence = _evidence(folder.name, arm, weighted, trial, times.get((trial.cell, arm.backend)))
                evidence = replace(evidence, known=_known(run, arm, weighted.cell) if trial.outcome is Outcome.INCORRECT else None)
                features = shown(run.scenario, weighted.cell, arm.kv_dtype)
                yield from ((arm.backend, name, place_of(weighted.cell), evidence) for name in features)


def _known(run: Run, arm: Arm, cell: Cell) -> str | None:
    """By what is declared today, whenever the run was."""
    declared = [each.deviations for each in _arms_today(run.scenario, run.default) if each.backend == arm.backend]
    deviation = known_on(declared[0], cell) if declared else None
    return deviation and f"{deviation.says} ({deviation.in_numbers(cell)})"


@cache
def _arms_today(scenario: Scenario, default: DefaultPick) -> tuple[Arm, ...]:
    return sift(scenario, settings_of(MHA).entries, default).arms


def _evidence(example: str, arm: Arm, weighted: WeightedCell, trial: Trial, raced_us: float | None) -> Seen:
    usual = trial.cell.removesuffix(f"-{weighted.cell.layer.name}") in FIRST  # a model of several layer kinds has each cell once a kind
    about = {"usual": usual, "share": weighted.token_share}
    if trial.outcome is not Outcome.MEASURED:
        return Seen(example, arm.name, trial.cell, None, False, f"{trial.outcome.value}: {trial.detail}", **about)
    looked = trial.cost.device_us if trial.cost else None
    return Seen(example, arm.name, trial.cell, looked if raced_us is None else raced_us, raced_us is not None, None, **about)
