"""Both sides of a comparison as the steps of its job hold them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from backends.measured import Trial
from backends.spec import StageSpec
from backends.timing.sampled import PLAIN, Manner
from store.comparisons.side_by_side import SideBySide
from store.database.connect import Store
from tuner.comparing.in_turn import SHARE
from tuner.comparing.side import Side
from tuner.job import Job
from tuner.new_run import stage_of
from tuner.racing.sieve import Entrant, measured_trials


@dataclass(frozen=True)
class Both:
    """``id`` of what is stored; ``jobs`` baseline first, their sessions open. ``manners``: how either side's calls are timed.
    ``together`` as of `SideBySide`; ``pinned``: the candidate chooses as the baseline did."""

    id: str
    store: Store
    jobs: tuple[Job, Job]
    manners: tuple[Manner, Manner] = (PLAIN, PLAIN)
    together: bool = True
    pinned: bool = False


def shared_stage(baseline: Side) -> StageSpec:
    """The baseline's server for both sides, in as much memory as leaves room for the other one."""
    stage, memory = stage_of(baseline.plan), baseline.environment.board.memory_bytes
    return stage if memory is None else replace(stage, budget_bytes=int(SHARE * memory))


def manners_of(slowed: tuple[float, float]) -> tuple[Manner, Manner]:
    """Of sides that are slowed by such shares (0 = not at all). Both take the launches a sample that the slower one needs: a longer
    sample has less of what surrounds it."""
    fewest = max(Manner(slowed=share).least for share in slowed)
    baseline, candidate = (Manner(slowed=share, fewest=fewest) for share in slowed)
    return baseline, candidate


def field_of(measured: SideBySide) -> tuple[Entrant, ...]:
    """Every arm on the cells where it was measured alone on both sides, in one mode: graph replays and eager calls do not compare."""
    old, new = (measured_trials(run.trials) for run in (measured.baseline, measured.candidate))
    cells = [weighted.cell.name for weighted in measured.baseline.cells]
    found = (
        Entrant(arm, frozenset(cell for cell in cells if _mode([old, new], arm.name, cell) is not None)) for arm in measured.baseline.arms
    )
    return tuple(entrant for entrant in found if entrant.cells)


def _mode(sides: Iterable[dict[tuple[str, str], Trial]], arm: str, cell: str) -> str | None:
    """The mode of both sides; None where one was not measured, or they differ."""
    modes = {trial.identity.mode if (trial := side.get((arm, cell))) and trial.identity else None for side in sides}
    return modes.pop() if len(modes) == 1 else None
