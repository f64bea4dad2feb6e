"""What committed runs say of a backend with a feature: a time, or how it was lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from backends.arm import Arm
from backends.cell import Cell, Phase
from backends.measured import Trial
from backends.outcome import Outcome
from tests.examples import folders
from tests.pages.coverage.features import shown
from tests.pages.sources import example

DECODE, FRESH, PREFIX = PLACES = ("decode", "fresh prefill", "prefill on a prefix")
FIRST = ("decode-64", "prefill-fresh", "prefill-prefix")  # cells that stand for their place where a run has them


@dataclass(frozen=True)
class Seen:
    """``us``: of one call, None where the arm was ``lost``. ``raced`` in several processes, not looked at in one."""

    example: str
    arm: str
    cell: str
    us: float | None
    raced: bool
    lost: str | None


def place_of(cell: Cell) -> str:
    """A verify step stands where tokens are generated."""
    if cell.phase is Phase.DECODE or cell.verifies:
        return DECODE
    return PREFIX if any(cell.prefix_lens) else FRESH


@cache
def seen() -> dict[tuple[str, str, str], Seen]:
    """By backend, feature and place, the best evidence for each."""
    found: dict[tuple[str, str, str], Seen] = {}
    for backend, feature, place, evidence in _all():
        before = found.get((backend, feature, place))
        if before is None or _weight(evidence) > _weight(before):
            found[backend, feature, place] = evidence
    return found


def _weight(evidence: Seen) -> tuple[bool, bool, bool]:
    return evidence.us is not None, evidence.raced, evidence.cell in FIRST


def _all() -> Iterator[tuple[str, str, str, Seen]]:
    for folder in folders():
        run, times = example(folder.name)
        cells, arms = {each.cell.name: each.cell for each in run.cells}, {arm.name: arm for arm in run.arms}
        for trial in run.trials:
            if trial.cell in cells and trial.arm in arms:
                cell, arm = cells[trial.cell], arms[trial.arm]
                evidence = _evidence(folder.name, arm, trial, times.get((cell.name, arm.backend)))
                yield from ((arm.backend, name, place_of(cell), evidence) for name in shown(run.scenario, cell, arm.kv_dtype))


def _evidence(example: str, arm: Arm, trial: Trial, raced_us: float | None) -> Seen:
    if trial.outcome is not Outcome.MEASURED:
        return Seen(example, arm.name, trial.cell, None, False, f"{trial.outcome.value}: {trial.detail}")
    looked = trial.cost.device_us if trial.cost else None
    return Seen(example, arm.name, trial.cell, looked if raced_us is None else raced_us, raced_us is not None, None)
