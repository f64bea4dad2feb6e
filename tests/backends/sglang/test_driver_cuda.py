"""The engine driver on a GPU: real recording and replay, in an interpreter that has SGLang on its path.

Without the rest of the tool: pytest -m gpu --noconftest tests/backends/sglang/test_driver_cuda.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from backends.arm import Arm, Provider
from backends.cell import Cell, PageLayout, Phase
from backends.checks.checker import Checker
from backends.driver import CellData, KvPool, Stage
from backends.kv.inputs import lay_out
from backends.model import Attention, LayerKind, Model
from backends.sglang.capture import GraphedStep
from backends.sglang.driver import SglangDriver

if TYPE_CHECKING:
    import torch

pytestmark = pytest.mark.gpu

SLOTS = 4
POOL_TOKENS = 40_960
CONTEXT_LENGTH = 8192
LAYER = LayerKind("full", 4, 32, 8, 128, 128)
MODEL = Model("like qwen3_8b", "Qwen3ForCausalLM", Attention.MHA, (LAYER,), 4096, 1000, 1e9, 1e9, "bfloat16", CONTEXT_LENGTH, "made up")
PACKAGES = {"fa3": ("sgl_kernel",), "flashinfer": ("flashinfer",), "triton": ("triton", "sgl_kernel"), "torch_native": ()}
PREFILLS = {
    "fresh": ((1000, 37), (1000, 37)),
    "prefixed": ((1500, 700), (300, 1)),
    "mixed": ((1500, 700), (300, 700)),
}
EXTRAS: dict[str, Any] = {}


@pytest.fixture(scope="module", params=PACKAGES)
def driver(request: pytest.FixtureRequest) -> Iterator[SglangDriver]:
    import torch

    device = torch.device("cuda")
    shape = (POOL_TOKENS + 1, LAYER.kv_heads, LAYER.head_dim)
    layers = [torch.randn(shape, device=device, dtype=torch.bfloat16) for _ in range(2 * SLOTS)]
    pool = KvPool(1, POOL_TOKENS, layers[:SLOTS], layers[SLOTS:])
    stage = Stage(device, MODEL, 1, CONTEXT_LENGTH, 8192, max_batch=16, max_new_tokens=2048, extras=EXTRAS)
    arm = Arm(request.param, Provider.ENGINE, "", 1, "bfloat16", ("sglang", *PACKAGES[request.param]))
    made = SglangDriver(arm, stage, pool)
    yield made
    made.close()


def laid_out(driver: SglangDriver, phase: Phase, contexts: tuple[int, ...], new: tuple[int, ...], padded: int) -> CellData:
    prompts = tuple(max(1, context // 2) for context in contexts) if phase is Phase.DECODE else contexts
    cell = Cell("cell", phase, LAYER, contexts, new, prompts, padded, "bfloat16", 3, PageLayout.SERVED)
    return lay_out(cell, driver.engine.pool, CONTEXT_LENGTH)


def check(data: CellData, shot: Callable[[], torch.Tensor]) -> None:
    checker = Checker(data, SLOTS - 1, None)
    checker.check(shot, range(SLOTS))
    checker.check_needles(shot)


@pytest.mark.parametrize("name", PREFILLS)
def test_prefill_is_right_and_writes_the_pool(driver: SglangDriver, name: str) -> None:
    data = laid_out(driver, Phase.PREFILL, *PREFILLS[name], padded=2)
    call = driver.prepare(data)

    def shot() -> torch.Tensor:
        with call.active():
            call.plan()
            return [call.launch(slot) for slot in range(SLOTS)][-1]

    check(data, shot)
    assert not call.graph and call.resolved
    call.close()


@pytest.mark.parametrize("padded", [5, 8])
def test_a_recorded_decode_replays_right_with_the_true_lengths(driver: SglangDriver, padded: int) -> None:
    import torch

    data = laid_out(driver, Phase.DECODE, (5, 900, 2, 4097, 64), (1,) * 5, padded)
    call = driver.prepare(data)
    if not isinstance(call, GraphedStep):
        pytest.skip(f"{driver.engine.arm.backend} has no graph state: it is served eagerly")

    def eager() -> torch.Tensor:
        with call.active():
            call.plan()
            return [call.launch(slot) for slot in range(SLOTS)][-1]

    check(data, eager)
    first, second = recorded(call), recorded(call)

    def replayed(graph: Any, output: torch.Tensor) -> torch.Tensor:
        with call.active():
            call.plan()
            graph.replay()
        torch.cuda.synchronize()
        return output

    for graph, output in (first, second, first):
        check(data, lambda graph=graph, output=output: replayed(graph, output))
        assert len(output) == padded
    assert not driver.engine.context.fallbacks
    call.close()


def recorded(call: GraphedStep) -> tuple[Any, torch.Tensor]:
    import torch

    graph = torch.cuda.CUDAGraph()
    with call.capturing():
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            outputs = [call.launch(slot) for slot in range(SLOTS)]
    return graph, outputs[-1]
