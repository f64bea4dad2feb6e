"""Triton's decode and verify steps of a windowed layer on real backends, with and without what is declared of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from backends.cell import Cell, Phase
from backends.deviation import Deviation
from backends.driver import CellData
from backends.kv.inputs import lay_out
from backends.sglang.driver import SglangDriver
from tests.backends.sglang.declared import declared, entries
from tests.backends.sglang.features import FEATURES
from tests.backends.sglang.standing import CONTEXT_LENGTH, FEW_SPLITS, LAYER, RAGGED, GraphedStep, capture, judged, opened
from tests.backends.sglang.verifying import DRAFTS, verify_cell

WINDOW = replace(LAYER, sinks=True, sliding_window=20)
CHAIN = DRAFTS["chain of 2"]


def window_cases(rules: str) -> Iterator[tuple[str, Any]]:
    feature = next(each for each in FEATURES if each.name == "sinks in a window")
    known = declared(entries()["triton"], feature, rules).deviations
    verify = verify_cell(CHAIN, (5, 70), Phase.DECODE)
    yield "window, decode", lambda: eagerly(RAGGED, known)
    yield "window, decode, undeclared", lambda: eagerly(RAGGED, ())
    yield "window, decode, two fewer declared", lambda: eagerly(RAGGED, tuple(replace(one, keys=-2) for one in known))
    yield "window, decode captured", lambda: captured(RAGGED, known)
    yield "window, verify", lambda: eagerly(verify, known, drafting=CHAIN)
    yield "window, verify captured", lambda: captured(verify, known, drafting=CHAIN)


def eagerly(cell: Cell, known: tuple[Deviation, ...], **server: Any) -> dict[str, Any]:
    driver, data = laid_out(cell, **server)
    return judged(driver.prepare(data), data, deviations=known)


def captured(cell: Cell, known: tuple[Deviation, ...], **server: Any) -> dict[str, Any]:
    """Padded to a larger captured batch."""
    driver, data = laid_out(cell, **server)
    data.cell = replace(data.cell, padded_batch=cell.batch + 1)
    driver.engine.backend.init_cuda_graph_state(data.cell.padded_batch, data.cell.padded_tokens)
    call = GraphedStep(driver.engine, data)
    capture(call)
    return judged(call, data, deviations=known)


def laid_out(cell: Cell, **server: Any) -> tuple[SglangDriver, CellData]:
    driver = opened("triton", "float16", knobs=FEW_SPLITS, layers=(WINDOW,), **server)
    return driver, lay_out(replace(cell, dtype="float16", layer=WINDOW), driver.engine.pool, CONTEXT_LENGTH)
