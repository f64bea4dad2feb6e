"""The least noise that intervals reckon with, and where it comes from."""

from __future__ import annotations

from dataclasses import replace

from reports import numbers
from store.boards.calibration import NoiseFloor
from store.runs.run import Run
from store.scenario import Decide


def rules_of(run: Run) -> Decide:
    """The scenario's, with the noise floor of a calibrated board."""
    rules, floor = run.scenario.decide, run.noise_floor
    return rules if floor is None else replace(rules, sigma_floor=floor.sigma_0)


def said_of(floor: NoiseFloor | None, rules: Decide) -> str:
    if floor is None:
        return f"no calibration of this board: process-to-process noise of {numbers.percent(rules.sigma_floor)} was assumed as a floor"
    day = floor.created.partition("T")[0]
    return f"process-to-process noise of {numbers.percent(floor.sigma_0)}, this board's own (calibrated {day}), was taken as a floor"
