"""From probes to the race: which arms are worth fresh processes, and on which cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.cell import Phase
from backends.measured import Trial
from backends.outcome import Outcome
from reports.numbers import microseconds
from store.scenario import WeightedCell

# A probe is one process, good to far better than this: an arm so much slower on every cell of a phase cannot win there.
HOPELESS = 4.0
SAME_KERNELS = "it launched the very kernels of another arm on every cell"

Measured = dict[tuple[str, str], Trial]


@dataclass(frozen=True)
class Entrant:
    """An arm and the cells it races on."""

    arm: Arm
    cells: frozenset[str]


@dataclass(frozen=True)
class LeftOut:
    """An arm that was measured alone on every cell of ``phase`` and does not race there."""

    arm: str
    phase: Phase
    because: str

    def __str__(self) -> str:
        return f"{self.arm} did not race in {self.phase.value}: {self.because}"


def measured_trials(trials: Iterable[Trial]) -> Measured:
    """The last word on each arm and cell, where it is a measurement. A failure after a success withdraws it."""
    last = {(trial.arm, trial.cell): trial for trial in trials}
    return {key: trial for key, trial in last.items() if trial.outcome is Outcome.MEASURED}


def entrants(
    arms: Iterable[Arm], cells: tuple[WeightedCell, ...], trials: Iterable[Trial], default: Mapping[Phase, str]
) -> tuple[Entrant, ...]:
    """Arms that race, each with its cells. The default, named by phase, always races wherever it was measured.

    Left out, phase by phase: an arm not measured on every cell of the phase, one served eagerly where the default
    replays a graph (never ranked against it), one hopelessly slower on every cell, one that ran the very kernels of an
    arm before it. Their probes stay in the store and are shown. A copy races on those of its original's cells that it was
    entered on.
    """
    measured, defaults = measured_trials(trials), set(default.values())
    found: list[Entrant] = []
    for arm in sorted(arms, key=lambda arm: arm.name not in defaults):
        races = frozenset(name for phase in Phase for name in _cells_raced(arm, phase, cells, measured, default.get(phase, "")))
        if races and (arm.name in defaults or not any(_same_kernels(arm, other, races, measured) for other in found)):
            found.append(Entrant(arm, races))
    return tuple(found)


def left_out(
    arms: Iterable[Arm], cells: tuple[WeightedCell, ...], trials: Iterable[Trial], default: Mapping[Phase, str]
) -> tuple[LeftOut, ...]:
    """Why each arm that was measured alone on a whole phase is no entrant there."""
    arms, measured = tuple(arms), measured_trials(trials)
    field = entrants(arms, cells, measured.values(), default)
    raced = {(entrant.arm.name, name) for entrant in field for name in entrant.cells}
    return tuple(
        LeftOut(arm.name, phase, _objection(arm, names, measured, default.get(phase, "")) or SAME_KERNELS)
        for arm in arms
        for phase in Phase
        if (names := _names(cells, phase)) and all((arm.name, name) in measured and (arm.name, name) not in raced for name in names)
    )


def _names(cells: Iterable[WeightedCell], phase: Phase) -> list[str]:
    return [weighted.cell.name for weighted in cells if weighted.cell.phase is phase]


def _cells_raced(arm: Arm, phase: Phase, cells: tuple[WeightedCell, ...], measured: Measured, default: str) -> list[str]:
    names = _names(cells, phase)
    mine = [name for name in names if (arm.name, name) in measured]
    if arm.name == default:
        return mine
    if not arm.is_original:  # nobody's rival
        original = set(_cells_raced(replace(arm, copy=1, slowed=0.0), phase, cells, measured, default))
        return [name for name in mine if name in original]
    return [] if len(mine) < len(names) or _objection(arm, mine, measured, default) else names


def _objection(arm: Arm, names: Iterable[str], measured: Measured, default: str) -> str | None:
    """Why ``arm``, measured on ``names``, does not race against ``default`` there."""
    pairs = [(measured[arm.name, name], measured[default, name]) for name in names if (default, name) in measured]
    for trial, base in pairs:
        if trial.identity and base.identity and trial.identity.mode != base.identity.mode:
            served = f"it is served in {trial.identity.mode} mode, {default} in {base.identity.mode} mode"
            return f"{served} (alone on {trial.cell}: {_times(trial, base)}), and the two are not ranked against each other"
    if pairs and all(_slower(*pair) for pair in pairs):
        trial, base = pairs[0]
        return f"alone it took over {HOPELESS:g} times the time of {default} on every cell ({trial.cell}: {_times(trial, base)})"
    return None


def _times(trial: Trial, base: Trial) -> str:
    return " against ".join(microseconds(each.cost.device_us) for each in (trial, base) if each.cost)


def _slower(trial: Trial, base: Trial) -> bool:
    return trial.cost is not None and base.cost is not None and trial.cost.device_us > HOPELESS * base.cost.device_us


def _same_kernels(arm: Arm, other: Entrant, races: frozenset[str], measured: Measured) -> bool:
    """Whether both launched the same device kernels of the same libraries on every cell (never so where none can be read)."""
    if _setting(arm) != _setting(other.arm) or not races <= other.cells:
        return False
    mine = [measured[arm.name, name].identity for name in sorted(races)]
    theirs = [measured[other.arm.name, name].identity for name in sorted(races)]
    return mine == theirs and all(identity is not None and identity.kernels for identity in mine)


def _setting(arm: Arm) -> tuple[object, ...]:
    """What must be equal beside the kernels: at another page size or KV dtype an arm pairs with other arms, and a copy was asked for."""
    return arm.packages, arm.page_size, arm.kv_dtype, arm.knobs, arm.copy, arm.slowed
