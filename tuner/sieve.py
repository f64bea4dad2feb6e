"""From probes to the race: which arms are worth fresh processes, and on which cells."""

from __future__ import annotations

from collections.abc import Iterable

from backends.arm import Arm
from backends.cell import Phase
from backends.measured import Trial
from backends.outcome import Outcome
from store.scenario import WeightedCell
from tuner.race import Entrant

# A probe is one process, good to far better than this: an arm so much slower on every cell of a phase cannot win there.
HOPELESS = 4.0

Measured = dict[tuple[str, str], Trial]


def measured_trials(trials: Iterable[Trial]) -> Measured:
    """The last word on each arm and cell, where it is a measurement. A failure after a success withdraws it."""
    last = {(trial.arm, trial.cell): trial for trial in trials}
    return {key: trial for key, trial in last.items() if trial.outcome is Outcome.MEASURED}


def entrants(
    arms: Iterable[Arm], cells: tuple[WeightedCell, ...], trials: Iterable[Trial], default: dict[Phase, str]
) -> tuple[Entrant, ...]:
    """Arms that race, each with its cells. The default always races wherever it was measured.

    Left out, phase by phase: an arm not measured on every cell of the phase, one served eagerly where the default
    replays a graph (never ranked against it), one hopelessly slower on every cell, one that ran the very kernels of an
    arm before it. Their probes stay in the store and are shown.
    """
    measured = measured_trials(trials)
    found: list[Entrant] = []
    ordered = sorted(arms, key=lambda arm: arm.name not in default.values())
    for arm in ordered:
        races = frozenset(name for phase in Phase for name in _cells_raced(arm, phase, cells, measured, default.get(phase)))
        if races and not any(_same_kernels(arm, other, races, measured) for other in found):
            found.append(Entrant(arm, races))
    return tuple(found)


def _cells_raced(arm: Arm, phase: Phase, cells: tuple[WeightedCell, ...], measured: Measured, default: str | None) -> list[str]:
    names = [weighted.cell.name for weighted in cells if weighted.cell.phase is phase]
    mine = [measured.get((arm.name, name)) for name in names]
    trials = [trial for trial in mine if trial is not None]
    if len(trials) < len(names):
        return []
    against = [measured.get((default, name)) if default else None for name in names]
    pairs = [(trial, base) for trial, base in zip(trials, against) if base is not None]
    if arm.name != default and pairs and (all(_slower(*pair) for pair in pairs) or any(_other_mode(*pair) for pair in pairs)):
        return []
    return names


def _slower(trial: Trial, base: Trial) -> bool:
    return trial.cost is not None and base.cost is not None and trial.cost.device_us > HOPELESS * base.cost.device_us


def _other_mode(trial: Trial, base: Trial) -> bool:
    return trial.identity is not None and base.identity is not None and trial.identity.mode != base.identity.mode


def _same_kernels(arm: Arm, other: Entrant, races: frozenset[str], measured: Measured) -> bool:
    """Whether both launched the same device kernels of the same libraries on every cell (never so where none can be read)."""
    if arm.packages != other.arm.packages or not races <= other.cells:
        return False
    mine = [measured[arm.name, name].identity for name in sorted(races)]
    theirs = [measured[other.arm.name, name].identity for name in sorted(races)]
    return mine == theirs and all(identity is not None and identity.kernels for identity in mine)
