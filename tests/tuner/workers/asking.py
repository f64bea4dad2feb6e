"""Questions to a worker under test, and what comes of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from backends.arm import Arm, Provider
from backends.model import Attention, Model
from backends.silence import SilenceLimits
from backends.spec import StageSpec, TimingSpec
from tuner.workers.failure import WorkerFailed
from tuner.workers.process import Worker

MODEL = Model("m", "M", Attention.MHA, (), 8, 8, 1.0, 1.0, "float32", 64, "test")
STAGE = StageSpec("cpu", MODEL, 1, 64, 64, None, 0.5)


def trial(misfortune: str, limit_s: float = 60.0, compiling_s: float = 60.0) -> dict[str, Any]:
    """A question for an arm that meets ``misfortune``, a function of tests/backends/misbehaving.py, while it is built."""
    arm = Arm(misfortune, Provider.ENGINE, "misbehaving:Driver", 1, "float32")
    limits = SilenceLimits(building_s=limit_s, compiling_s=compiling_s)
    return {"do": "trial", "arm": arm, "cells": (), "stage": STAGE, "timing": TimingSpec(1, 1, 1.0, 0.0, 0.0, 0.0), "limits": limits}


def failure_of(worker: Worker, message: dict[str, Any]) -> WorkerFailed:
    with pytest.raises(WorkerFailed) as caught:
        list(worker.ask(message))
    return caught.value


def answer_of(worker: Worker, message: dict[str, Any]) -> Any:
    return [event for event in worker.ask(message) if event["event"] == "trial"][0]["trial"]["answer"]


def take_lock(worker: Worker, owner: str) -> Iterator[dict[str, Any]]:
    return worker.ask({"do": "lock", "gpu": f"test-{os.getpid()}", "owner": owner})
