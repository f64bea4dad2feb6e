"""What the cases of drive.py stand on: a backend of SGLang's registry opened on a small pool, cells, and how one is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from backends.arm import Arm, Provider
from backends.cell import Cell, PageLayout, Phase
from backends.checks.checker import Checker
from backends.deviation import Deviation, known_on
from backends.drafting import Drafting
from backends.driver import CellData, Stage
from backends.kv.inputs import lay_out
from backends.kv.pool import build_pool
from backends.kv.rotation import PoolPlan
from backends.model import Attention, LayerKind, Model
from backends.sglang.calls import EagerCall
from backends.sglang.capture import GraphedStep
from backends.sglang.driver import SglangDriver

SLOTS = 2
POOL_TOKENS = 512
CONTEXT_LENGTH = 256
EXTRAS: dict[str, Any] = {}
Knobs = tuple[tuple[str, str], ...]
FEW_SPLITS: Knobs = (("triton-attention-num-kv-splits", "2"),)  # the interpreter is slow
LAYER = LayerKind("full", 4, 4, 2, 64, 64)
LATENT_LAYER = LayerKind("full", 4, 4, 1, 288, 256, scale=0.07)  # Triton has tiles for 288 and 576
MODEL = Model("tiny", "LlamaForCausalLM", Attention.MHA, (LAYER,), 512, 1000, 1e6, 1e6, "float32", CONTEXT_LENGTH, "made up")
LATENT: dict[str, Any] = {"attention": Attention.MLA, "layers": (LATENT_LAYER,), "architecture": "DeepseekV3ForCausalLM"}


def decode(name: str, *contexts: int, padded: int | None = None, seed: int = 7) -> Cell:
    prompts = tuple(max(1, context // 2) for context in contexts)
    return _cell(name, Phase.DECODE, contexts, (1,) * len(contexts), prompts, padded or len(contexts), seed)


def prefill(name: str, contexts: tuple[int, ...], new: tuple[int, ...]) -> Cell:
    return _cell(name, Phase.PREFILL, contexts, new, contexts, len(contexts), 7)


def _cell(name: str, phase: Phase, contexts: Any, new: Any, prompts: Any, padded: int, seed: int) -> Cell:
    return Cell(name, phase, LAYER, contexts, new, prompts, padded, "float32", seed, PageLayout.RANDOM)


RAGGED = decode("decode", 5, 33, 100)
PADDED = decode("padded", 5, 100, padded=3)  # a captured call is launched often
CELLS = (
    RAGGED,
    prefill("fresh", (17, 40), (17, 40)),
    prefill("prefixed", (50, 64), (16, 3)),
    prefill("mixed", (50, 20), (16, 20)),
)
# two prompts, two requests that decode: what a server with mixed chunks runs
CHUNKS = _cell("chunks", Phase.PREFILL, (50, 20, 33, 100), (16, 20, 1, 1), (50, 20, 10, 99), 4, 7)


def opened(
    backend: str,
    dtype: str,
    page_size: int = 1,
    *packages: str,
    knobs: Knobs = (),
    deterministic: bool = False,
    kv_dtype: str = "",
    scales: tuple[float, float] | None = None,
    drafting: Drafting | None = None,
    **changes: Any,
) -> SglangDriver:
    model, kv_dtype = replace(MODEL, dtype=dtype, **changes), kv_dtype or dtype
    pool = replace(build_pool(PoolPlan(page_size, kv_dtype, POOL_TOKENS, SLOTS), model.layers[0], torch.device("cpu"), 1), scales=scales)
    sizes = {"max_batch": 8, "max_new_tokens": 128}
    asked = {"deterministic": deterministic, "drafting": drafting, "extras": EXTRAS}
    stage = Stage(torch.device("cpu"), model, 1, CONTEXT_LENGTH, 2048, **sizes, **asked)
    return SglangDriver(Arm(backend, Provider.ENGINE, "", page_size, kv_dtype, ("sglang", *packages), knobs), stage, pool)


def laid_out(driver: SglangDriver, cell: Cell, window: int | None = None) -> CellData:
    dtype = driver.engine.stage.model.dtype
    return lay_out(replace(cell, dtype=dtype, layer=replace(LAYER, sliding_window=window)), driver.engine.pool, CONTEXT_LENGTH)


def judged(call: EagerCall, data: CellData, soft_cap: float | None = None, deviations: tuple[Deviation, ...] = ()) -> dict[str, Any]:
    """The cell checked as an arm is: every slot written, outputs against the reference, needles (in the last slot alone)."""
    rows = []

    def shot(*slots: int) -> torch.Tensor:
        with call.active():
            call.plan()
            outputs = [call.launch(slot) for slot in slots]
        rows.append(len(outputs[-1]))
        return outputs[-1]

    checker = Checker(data, SLOTS - 1, soft_cap, known_on(deviations, data.cell))
    error = checker.check(lambda: shot(*range(SLOTS)), range(SLOTS)).largest
    needle = checker.check_needles(lambda: shot(SLOTS - 1))
    how = {"graph": call.graph, "resolved": call.resolved, "rows": rows[-1], "deviates": checker.deviates}
    return {"error": error, "needle": needle, **how}


def graphed(driver: SglangDriver, cell: Cell) -> tuple[GraphedStep, CellData]:
    """A call as on CUDA, where decode is captured; what would be recorded runs eagerly here."""
    data = laid_out(driver, cell)
    return GraphedStep(driver.engine, data), data


def capture(call: GraphedStep) -> None:
    with call.capturing():
        for slot in range(SLOTS):
            call.launch(slot)


def outcome(case: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"result": case()}
    except Exception as error:
        return {"raised": type(error).__name__, "text": str(error)}
