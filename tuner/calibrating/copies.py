"""A run that measures its arms beside copies of them: equal ones, and some that are slower by so much."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from backends.arm import Arm
from backends.measured import Trial
from backends.outcome import Outcome
from store.digest import audit_digest, copies_digest
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.calibrating.noise import COPY
from tuner.new_run import command_line


def on_cells(run: Run, cells: tuple[WeightedCell, ...]) -> Run:
    """Never the run of the traffic's own cells, nor continued by one."""
    return replace(run, cells=cells, digest=audit_digest(run.digest, (weighted.cell for weighted in cells)))


def calibration_run(run: Run, slowed: Sequence[float] = ()) -> Run:
    """With every arm entered again; never the run of a `tune` with the same settings, nor continued by one."""
    copies = [{"copy": COPY}, *({"slowed": share} for share in slowed)]
    arms = (*run.arms, *(replace(arm, **copy) for copy in copies for arm in run.arms))  # type: ignore[arg-type]
    return replace(run, arms=arms, digest=copies_digest(run.digest, arms), command=command_line())


def copied(trials: Iterable[Trial], arms: Iterable[Arm], slowed_on: Collection[str] | None = None) -> list[Trial]:
    """What a probe said of an arm holds of its copies among ``arms``; a copy that has trials already keeps to those. ``slowed_on``: names
    of the only cells that slowed copies are measured on; None = all of them."""
    known = {(trial.arm, trial.cell): trial for trial in trials if trial.outcome is not Outcome.INTERRUPTED}
    entered = {name for name, _ in known}
    copies = [arm for arm in arms if not arm.is_original and arm.name not in entered]
    return [
        replace(trial, arm=copy.name)
        for copy in copies
        for trial in known.values()
        if trial.arm == copy.original_name and (slowed_on is None or not copy.slowed or trial.cell in slowed_on)
    ]
