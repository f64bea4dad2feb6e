from __future__ import annotations

import pathlib
import sys
from dataclasses import replace

from backends.cell import Cell, Phase
from backends.measured import Trial
from backends.model import LayerKind
from backends.outcome import Outcome
from backends.wire import from_plain
from tests.tuner.workers.asking import trial
from tuner.workers.bundle import bundle, foreign_sources
from tuner.workers.process import Worker

DRIVER = """
from backends.driver import Refused

class Driver:
    def __init__(self, arm, stage, pool):
        raise Refused(f"{arm.backend} is not for head dim {pool.k[0].shape[-1]}")
"""


def test_a_driver_of_a_third_party_travels_with_the_bundle_and_needs_nothing_of_the_controller(bare: None, tmp_path: pathlib.Path) -> None:
    (tmp_path / "their_driver.py").write_text(DRIVER)
    message = trial("theirs")
    layer = LayerKind("full", 1, 2, 1, 32, 32)
    cell = Cell("decode", Phase.DECODE, layer, (16, 8), (1, 1), (8, 4), 2, "float32", 0)
    message = {**message, "cells": (cell,), "arm": replace(message["arm"], driver="their_driver:Driver")}
    code = bundle(foreign_sources(["their_driver"], [str(tmp_path)]))
    with Worker([sys.executable], code=code) as worker:
        trials = [from_plain(Trial, event["trial"]) for event in worker.ask(message) if event["event"] == "trial"]
    assert [(each.cell, each.outcome, each.detail) for each in trials] == [("decode", Outcome.REFUSED, "theirs is not for head dim 32")]
