"""Recorded reasons for the tests, all made up, and runs that speak of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backends.cell import Phase
from store.engines.recorded_reason import ReasonHere, ReasonTest, RecordedReason, Shape
from store.runs.run import Run
from store.scenario import WeightedCell
from store.verdicts.audit import Audit, ReasonFound
from tests.tuner.building import DECODE, PREFILL, Recipe, Times, arm, build, decode, prefill
from tuner.auditing.verdict import audit_of_run

RULE = "made.up"
SHAPE = Shape(Phase.DECODE, 64, 4096)
NAMED = decode("reason-decode-64x4096", context=4096, tokens=0.0, calls=0.0)  # as an audit calls the cell of `SHAPE`
SLOW = ReasonTest((Phase.DECODE,), "fa3", "flashinfer", sm=(90,), slower_by=1.0, shapes=(SHAPE,))
REASON = RecordedReason(
    "FlashInfer was slow", ("https://github.com/sgl-project/sglang/issues/1",), SLOW, "flashinfer", "slow", "0.6.0", "0.6.4", "0.5.9"
)


def here(installed: str | None = "0.6.14", affected: bool | None = False, **test: Any) -> ReasonHere:
    return ReasonHere(replace(REASON, test=replace(SLOW, **test)), installed, affected)


def audit_run(fa3: tuple[float, float, float], flashinfer: tuple[float, float, float], named: WeightedCell = NAMED, **changes: Any) -> Run:
    """Times in us of both backends: prefill, decode, and on the cell that the reason names."""
    cells = (decode(), prefill(), named)
    names = (PREFILL, DECODE, named.cell.name)
    arms = (arm("fa3"), arm("flashinfer"))
    times: Times = {(made.name, cell): us for made, row in zip(arms, (fa3, flashinfer)) for cell, us in zip(names, row)}
    return build(Recipe(arms, times, **{"cells": cells, **changes}))


def audit_of(run: Run, **test: Any) -> Audit:
    return audit_of_run(run, ((RULE, here(**test)),))


def found_in(run: Run, **test: Any) -> ReasonFound:
    (found,) = audit_of(run, **test).reasons
    return found
