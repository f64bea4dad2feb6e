"""Runs in the interpreter that has the engine: drives real SGLang backends and prints what came out, as one JSON object.

Needs TRITON_INTERPRET=1 and the engine's folders first on the path. A case that fails carries its error in place of numbers.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch

from backends.cell import Cell
from backends.driver import CellData
from backends.kv.inputs import lay_out
from backends.latent import attended
from backends.model import LayerKind
from backends.sglang.driver import SglangDriver
from tests.backends.sglang.interpreted import hasten
from tests.backends.sglang.standing import (
    CELLS,
    CHUNKS,
    CONTEXT_LENGTH,
    EXTRAS,
    FEW_SPLITS,
    LATENT,
    LATENT_LAYER,
    LAYER,
    PADDED,
    RAGGED,
    capture,
    decode,
    graphed,
    judged,
    laid_out,
    opened,
    outcome,
)
from tests.backends.sglang.varlen import FlashInferMLAAttnBackend
from tests.backends.sglang.verifying import verify_cases
from tests.backends.sglang.windows import window_cases


def eager_cases(backend: str, dtype: str, page_size: int) -> Iterator[tuple[str, Any]]:
    driver = opened(backend, dtype, page_size, knobs=FEW_SPLITS if backend == "triton" else ())
    for cell in (*CELLS, CHUNKS):
        data = laid_out(driver, cell)
        yield f"{backend} {cell.name}, page {page_size}", lambda data=data: judged(driver.prepare(data), data)


def latent(driver: SglangDriver, cell: Cell) -> CellData:
    layer = attended(LATENT_LAYER, LATENT["architecture"], cell.generates)
    return lay_out(replace(cell, dtype="float16", layer=layer), driver.engine.pool, CONTEXT_LENGTH)


def latent_cases() -> Iterator[tuple[str, Any]]:
    """Decode on absorbed heads; prefill in the form that the engine's rule names for the backend."""
    driver = opened("triton", "float16", knobs=FEW_SPLITS, **LATENT)
    for cell in CELLS:
        data = latent(driver, cell)
        yield f"latent {cell.name}", lambda data=data: judged(driver.prepare(data), data)


def long_prefix() -> dict[str, Any]:
    """Keys and values of the whole context projected up, as fa3, flashinfer and flashmla are served beyond the engine's threshold."""
    from sglang.srt.environ import envs
    from sglang.srt.layers.attention.attention_registry import ATTENTION_BACKENDS

    with envs.SGLANG_CHUNKED_PREFIX_CACHE_THRESHOLD.override(1):
        before, ATTENTION_BACKENDS["flashinfer"] = ATTENTION_BACKENDS["flashinfer"], FlashInferMLAAttnBackend
        try:
            driver = opened("flashinfer", "float16", **LATENT)
            data = latent(driver, CELLS[2])
            return judged(driver.prepare(data), data)
        finally:
            ATTENTION_BACKENDS["flashinfer"] = before


def featured(backend: str, layer: LayerKind, cells: tuple[Cell, ...], **storage: Any) -> Iterator[tuple[Cell, Callable[[], Any]]]:
    """Cells of a layer kind that is not plain, or in a cache that is not."""
    driver = opened(backend, "float16", knobs=FEW_SPLITS if backend == "triton" else (), layers=(layer,), **storage)
    for cell in cells:
        data = lay_out(replace(cell, dtype="float16", layer=layer), driver.engine.pool, CONTEXT_LENGTH)
        yield cell, lambda data=data: judged(driver.prepare(data), data)


def feature_cases() -> Iterator[tuple[str, Any]]:
    both, window = (RAGGED, CELLS[3]), replace(LAYER, sinks=True, sliding_window=20)
    features = {
        "sinks": featured("triton", replace(LAYER, sinks=True), both),
        "sinks in a window": featured("triton", window, (CELLS[3],)),
        "wide keys": featured("triton", replace(LAYER, head_dim=192, value_head_dim=128), both),
        "group of 5": featured("triton", replace(LAYER, query_heads=5, kv_heads=1), both),
        "e4m3": featured("torch_native", LAYER, both, kv_dtype="float8_e4m3fn"),
        "e5m2": featured("torch_native", LAYER, both, kv_dtype="float8_e5m2"),
        "scaled e4m3": featured("triton", LAYER, (decode("decode", 100, 150),), kv_dtype="float8_e4m3fn", scales=(0.5, 0.25)),
    }
    yield from ((f"{name}, {cell.name}", case) for name, cases in features.items() for cell, case in cases)


def windowed_cases() -> Iterator[tuple[str, Any]]:
    driver = opened("torch_native", "float32", layers=(replace(LAYER, sliding_window=20),))
    for cell in (CELLS[0], CELLS[3]):
        data = laid_out(driver, cell, window=20)
        yield f"windowed {cell.name}", lambda data=data: judged(driver.prepare(data), data)


def captured_twice(page_size: int) -> dict[str, Any]:
    driver = graph_driver(page_size)
    call, data = graphed(driver, PADDED)
    before = judged(call, data)
    capture(call)
    capture(call)
    after = judged(call, data)
    splits = driver.engine.backend.max_kv_splits
    return {**after, "rows_before": before["rows"], "error_before": before["error"], "splits": splits}


def interleaved() -> dict[str, Any]:
    """Two cells of one captured size in turn, then the first again after the second is gone."""
    driver = graph_driver(1)
    first, first_data = graphed(driver, PADDED)
    second, second_data = graphed(driver, decode("other", 60, 9, padded=3, seed=8))
    capture(first)
    capture(second)
    judged(first, first_data)
    judged(second, second_data)
    second.close()
    return judged(first, first_data)


def graph_driver(page_size: int) -> SglangDriver:
    driver = opened("triton", "float16", page_size, knobs=FEW_SPLITS)
    driver.engine.backend.init_cuda_graph_state(PADDED.padded_batch, PADDED.padded_batch)
    return driver


def deterministic() -> dict[str, Any]:
    """Two arms of one process, of which one is served so."""
    drivers = [opened("triton", "float16", knobs=FEW_SPLITS, deterministic=wanted) for wanted in (True, False)]
    data = laid_out(drivers[0], RAGGED)
    modes = [driver.engine.backend.enable_deterministic for driver in drivers]
    return {"modes": modes, **judged(drivers[0].prepare(data), data)}


def published() -> dict[str, Any]:
    """Which arm's arguments the engine sees while that arm's call is active."""
    from sglang.srt.runtime_context import get_server_args

    seen = []
    drivers = [opened("torch_native", "float32"), opened("torch_native", "float32", 16)]
    for driver in drivers:
        with driver.prepare(laid_out(driver, RAGGED)).active():
            seen.append(get_server_args() is driver.engine.runner.server_args)
    return {"own": seen, "contexts": len({id(driver.engine.context) for driver in drivers})}


def adopted() -> dict[str, Any]:
    driver = opened("torch_native", "float32", 16)
    theirs, ours = driver.engine.runner.token_to_kv_pool, driver.engine.pool
    same = [a.data_ptr() == b.data_ptr() for a, b in zip(theirs.k_buffer + theirs.v_buffer, ours.k + ours.v)]
    listed = theirs.data_ptrs.tolist() == [tensor.data_ptr() for tensor in ours.k + ours.v]
    return {"same": all(same), "listed": listed, "size": theirs.size, "imports": driver.imports}


def fallen_back() -> None:
    """Last of all: the warning stays with the process, as the engine gives it once."""
    driver = opened("torch_native", "float32")
    call = driver.prepare(laid_out(driver, RAGGED))
    logging.getLogger("sglang.kvcache").warning("Failed to load JIT KV-Cache kernel with row_bytes=256: no nvcc")
    with call.active():
        call.plan()
        call.launch(0)


CASES: dict[str, Callable[[], Any]] = {
    **dict(eager_cases("torch_native", "float32", 1)),
    **dict(eager_cases("torch_native", "float32", 16)),
    **dict(eager_cases("triton", "float16", 1)),
    **dict(windowed_cases()),
    **dict(latent_cases()),
    **dict(feature_cases()),
    **dict(verify_cases()),
    **dict(window_cases(sys.argv[1])),
    "latent, long prefix": long_prefix,
    "triton captured, page 1": lambda: captured_twice(1),
    "triton captured, page 16": lambda: captured_twice(16),
    "two captured cells": interleaved,
    "deterministic": deterministic,
    "published": published,
    "adopted": adopted,
    "unknown name": lambda: opened("no_such_backend", "float32"),
    "unknown knob": lambda: opened("torch_native", "float32", knobs=(("no-such-knob", "1"),)),
    "kernel library missing": lambda: opened("fa3", "float32", 1, "sgl_kernel"),
    "not on this device": lambda: opened("flashinfer", "float32"),
    "unlisted latent heads": lambda: opened("torch_native", "float32", **{**LATENT, "architecture": "LlamaForCausalLM"}),
    "fallen back": fallen_back,
}


if __name__ == "__main__":
    torch.set_num_threads(1)  # the tensors are tiny
    hasten()
    results = {name: outcome(case) for name, case in CASES.items()}
    engine = EXTRAS["sglang"]
    print(json.dumps({"version": engine.version, "warnings": engine.warnings, "cases": results}), file=sys.__stdout__)
