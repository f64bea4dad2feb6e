"""Digests of what was asked and where: equal digests mean numbers of one kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from backends.arm import Arm
from backends.cell import Cell
from backends.environment import Environment
from backends.simulated.world import World
from backends.step.shape import StepShape
from backends.wire import to_plain
from store.scenario import Scenario

LATER_WISHES = ("sensitivity", "variants", "anchors", "search", "rest")  # of how to measure, empty unless wished
LATER_SETTINGS = ("allow_fp8_kv", "mixed_chunk", "allow_deviations")  # of the engine, likewise
LATER_DRAFTS = ("attention_mode", "accepted_length")  # of its speculation
EARLIER_LIMITS = {"build_limit_s": 900.0, "trial_limit_s": 120.0}  # of silence, once among how to time, as they stood unless set


def canonical(plain: Any) -> str:
    """One ASCII text for one JSON value: sorted keys, no spaces, floats as Python's shortest that reads back the same.

    Raises ValueError on NaN and infinity: what is missing is None.
    """
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def run_digest(scenario: Scenario, environment: Environment, protocol: int) -> str:
    """SHA-256 (hex) of the question, the key of the machine that answers it, and how the numbers are made.

    Left out: where a datum of the scenario was read (``source``), and the import names of the environment, which repeat
    its distributions. Where the store and the pin lie is no part of a scenario. The order in which distributions and
    variables were found does not count. Who has none of the later wishes asks what was asked before there were any.
    """
    question = to_plain(scenario)
    for wish in LATER_WISHES:
        if not question["measure"][wish]:
            del question["measure"][wish]
    question["measure"]["timing"] |= EARLIER_LIMITS
    for wish in LATER_SETTINGS:
        if not question["engine"][wish]:
            del question["engine"][wish]
    drafts = question["engine"]["speculation"]
    question["engine"]["speculation"] = {key: value for key, value in drafts.items() if key not in LATER_DRAFTS or value is not None}
    for part in ("model", "gpu", "traffic"):
        del question[part]["source"]
    question["model"]["layers"] = [_as_before(kind) for kind in question["model"]["layers"]]
    if (recorded := question["traffic"].pop("recorded")) is not None:
        question["traffic"]["recorded"] = {"sha256": recorded["sha256"], "steps": recorded["steps"]}
    key = to_plain(environment)
    del key["imports"]
    key["distributions"] = sorted(key["distributions"], key=canonical)
    key["variables"] = sorted(key["variables"])
    return _sha256({"scenario": question, "environment": key, "protocol": protocol})


def simulated_digest(run: str, world: World) -> str:
    """SHA-256 (hex) of a run on a simulated GPU: of that run's own digest and of all that the GPU is like and what befalls it."""
    return _sha256({"run": run, "world": to_plain(world)})


def audit_digest(run: str, cells: Iterable[Cell]) -> str:
    """SHA-256 (hex) of a run that measures more than its scenario: of that run's own digest and of all its cells."""
    return _sha256({"run": run, "cells": sorted(cell_digest(cell) for cell in cells)})


def copies_digest(run: str, arms: Iterable[Arm]) -> str:
    """SHA-256 (hex) of a run that measures its arms beside copies of them: of that run's own digest and of all arms' names."""
    return _sha256({"run": run, "arms": sorted(arm.name for arm in arms)})


def beside_digest(run: str) -> str:
    """SHA-256 (hex) of a run that is measured while the other boards of its host are busy: of that run's own digest."""
    return _sha256({"run": run, "beside": "busy neighbours"})


def pair_digest(baseline: str, candidate: str) -> str:
    """SHA-256 (hex) of a comparison: of the digests of its two runs, in this order."""
    return _sha256({"baseline": baseline, "candidate": candidate})


def cell_digest(cell: Cell) -> str:
    """SHA-256 (hex) of a workload point; the name it has in one run does not count."""
    plain = {key: value for key, value in to_plain(cell).items() if key != "name" and (key != "draft" or value)}
    return _sha256({**plain, "layer": _as_before(plain["layer"])})


def shape_digest(shape: StepShape) -> str:
    """SHA-256 (hex) of what of a step is not attention."""
    return _sha256(to_plain(shape))


def _as_before(kind: dict[str, Any]) -> dict[str, Any]:
    """A layer kind as it was written before prefills of latent attention were measured, unless it is of one."""
    return {key: value for key, value in kind.items() if key != "projected_from" or value is not None}


def _sha256(plain: Any) -> str:
    return hashlib.sha256(canonical(plain).encode()).hexdigest()
