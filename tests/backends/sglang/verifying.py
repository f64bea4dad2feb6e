"""Verify steps on real backends: chains and trees, eager and as they are captured, and a mask that is not the draft's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from backends.cell import Cell, PageLayout, Phase
from backends.drafting import Drafting, chain
from backends.driver import CellData
from backends.kv.inputs import lay_out
from backends.latent import attended
from backends.sglang.driver import SglangDriver
from tests.backends.sglang.standing import (
    CONTEXT_LENGTH,
    FEW_SPLITS,
    LATENT,
    LATENT_LAYER,
    LAYER,
    GraphedStep,
    capture,
    judged,
    opened,
)

PREFIXES = (5, 70)
DRAFTS = {
    "chain of 2": Drafting("EAGLE", 1, 1, 2),
    "chain of 16": Drafting("EAGLE3", 1, 15, 16),
    "tree of 8": Drafting("EAGLE", 4, 5, 8),
    "ngram tree of 12": Drafting("NGRAM", 10, 1, 12),
}


def verify_cell(drafting: Drafting, prefixes: tuple[int, ...] = PREFIXES, phase: Phase = Phase.PREFILL) -> Cell:
    contexts = tuple(prefix + drafting.tokens for prefix in prefixes)
    prompts = tuple(max(1, prefix // 2) for prefix in prefixes)
    new = (drafting.tokens,) * len(prefixes)
    return Cell("verify", phase, LAYER, contexts, new, prompts, len(prefixes), "float16", 7, PageLayout.RANDOM, draft=drafting.tree)


def verify_cases() -> Iterator[tuple[str, Any]]:
    for name, drafting in DRAFTS.items():
        yield f"verify a {name}", lambda drafting=drafting: eagerly(opened("triton", "float16", knobs=FEW_SPLITS, drafting=drafting))
    tree = DRAFTS["tree of 8"]
    yield "verify in pages", lambda: eagerly(opened("triton", "float16", 16, knobs=FEW_SPLITS, drafting=tree))
    yield "verify latent", lambda: eagerly(opened("triton", "float16", knobs=FEW_SPLITS, drafting=tree, **LATENT), latent=True)
    yield "verify captured", lambda: captured(opened("triton", "float16", knobs=FEW_SPLITS, drafting=tree))
    yield "verify another mask", lambda: misled(opened("triton", "float16", knobs=FEW_SPLITS, drafting=tree))
    yield "verify another width", lambda: eagerly(opened("triton", "float16", knobs=FEW_SPLITS, drafting=tree), DRAFTS["chain of 2"])


def eagerly(driver: SglangDriver, drafting: Drafting | None = None, latent: bool = False) -> dict[str, Any]:
    data = laid_out(driver, drafting or driver.engine.stage.drafting, latent)
    return judged(driver.prepare(data), data)


def laid_out(driver: SglangDriver, drafting: Drafting | None, latent: bool = False) -> CellData:
    assert drafting is not None
    layer = attended(LATENT_LAYER, LATENT["architecture"], True) if latent else LAYER
    return lay_out(replace(verify_cell(drafting), layer=layer), driver.engine.pool, CONTEXT_LENGTH)


def captured(driver: SglangDriver) -> dict[str, Any]:
    """Padded to a larger captured batch; the true lengths and the mask come with the plan."""
    tree = driver.engine.stage.drafting
    assert tree is not None
    driver.engine.backend.init_cuda_graph_state(3, 3 * tree.tokens)
    data = laid_out(driver, tree)
    data.cell = replace(data.cell, padded_batch=3)
    call = GraphedStep(driver.engine, data)
    capture(call)
    return judged(call, data)


def misled(driver: SglangDriver) -> dict[str, Any]:
    """The reference knows a tree, the engine is told a chain: rivals become visible."""
    tree = driver.engine.stage.drafting
    assert tree is not None
    data = laid_out(driver, tree)
    true, data.cell = data.cell, replace(data.cell, draft=chain(tree.tokens))
    call = driver.prepare(data)
    data.cell = true
    return judged(call, data)
