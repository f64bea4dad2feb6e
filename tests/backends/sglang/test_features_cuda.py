"""What models and caches ask of the engine driver beyond plain heads, on a GPU: each feature on each backend that declares it.

Without the rest of the tool: pytest -m gpu --noconftest tests/backends/sglang/test_features_cuda.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from backends.arm import Arm, Provider
from backends.cell import Cell, Phase
from backends.checks.checker import Checker
from backends.driver import CellData, MissingPackage, Stage
from backends.kv.inputs import lay_out
from backends.kv.pool import build_pool
from backends.kv.rotation import PoolPlan
from backends.latent import attended
from backends.model import Attention, LayerKind, Model
from backends.sglang.capture import GraphedDecode
from backends.sglang.driver import SglangDriver
from backends.timing.timed import make_timed
from tests.backends.sglang.test_driver_cuda import recorded
from tests.backends.small import QUICK

if TYPE_CHECKING:
    import torch

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]

SLOTS, POOL_TOKENS, CONTEXT_LENGTH = 4, 65_536, 32_768
EXTRAS: dict[str, Any] = {}
PACKAGES = {
    "fa3": ("sgl_kernel",),
    "fa4": ("cutlass", "quack"),
    "flashinfer": ("flashinfer",),
    "flashmla": ("sgl_kernel", "flashinfer"),
    "triton": ("triton", "sgl_kernel"),
    "trtllm_mha": ("flashinfer",),
}
DECODES = {"decode": (5, 900, 2, 4097, 64)}
PREFILLS = {"fresh": ((1000, 37), (1000, 37)), "short prefix": ((1500, 700), (300, 1)), "mixed": ((1500, 700), (300, 700))}
LONG = {"long prefix": ((9000, 3000), (700, 500))}

PLAIN = LayerKind("full", 4, 32, 8, 128, 128)
LATENT = LayerKind("full", 4, 16, 1, 576, 512, scale=0.1352)
WINDOW = replace(PLAIN, head_dim=64, value_head_dim=64, query_heads=64, sliding_window=128)


@dataclass(frozen=True)
class Case:
    """``phases`` that the engine serves it in."""

    feature: str
    backend: str
    kind: LayerKind = PLAIN
    page_size: int = 1
    kv_dtype: str = "bfloat16"
    scales: tuple[float, float] | None = None
    soft_cap: float | None = None
    deterministic: bool = False
    phases: tuple[Phase, ...] = (Phase.DECODE, Phase.PREFILL)

    def __str__(self) -> str:
        return f"{self.feature}, {self.backend}/p{self.page_size}"


DECODE = (Phase.DECODE,)


def cases() -> Iterator[Case]:
    yield from (Case("latent", backend, LATENT) for backend in ("fa3", "flashinfer", "triton"))
    yield Case("latent", "flashmla", LATENT, 64)
    for dtype, backends in {"float8_e4m3fn": ("fa3", "flashinfer", "triton"), "float8_e5m2": ("flashinfer", "triton")}.items():
        for scales in (None, (0.5, 0.25)):
            yield from (Case(f"{dtype} x {scales}", backend, kv_dtype=dtype, scales=scales) for backend in backends)
    yield Case("float8_e4m3fn", "trtllm_mha", page_size=64, kv_dtype="float8_e4m3fn", scales=(0.5, 0.25), phases=DECODE)
    sinks = replace(WINDOW, sliding_window=None, sinks=True)
    yield from (Case("sinks", backend, sinks) for backend in ("fa3", "triton", "fa4"))
    yield Case("sinks", "trtllm_mha", sinks, 64, phases=DECODE)
    yield from (Case("sinks in a window", backend, replace(WINDOW, sinks=True)) for backend in ("fa3", "fa4"))
    yield Case("sinks in a window", "triton", replace(WINDOW, sinks=True), phases=(Phase.PREFILL,))  # its decode is a key short
    wide = replace(PLAIN, head_dim=192, value_head_dim=128, query_heads=16, kv_heads=1)
    yield from (Case("wide keys", backend, wide) for backend in ("fa3", "triton"))
    yield from (Case("soft cap", backend, replace(PLAIN, head_dim=256, value_head_dim=256), soft_cap=50.0) for backend in ("fa3", "triton"))
    yield from (Case("group of 7", backend, replace(PLAIN, query_heads=7, kv_heads=1)) for backend in ("fa3", "flashinfer", "triton"))
    yield from (Case("deterministic", backend, deterministic=True) for backend in ("fa3", "triton"))
    yield Case("plain", "fa4")
    yield Case("plain", "trtllm_mha", page_size=64, phases=DECODE)


@pytest.fixture(scope="module", params=cases(), ids=str)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Case, SglangDriver]]:
    import torch

    case, device = request.param, torch.device("cuda")
    latent = case.kind.latent
    model = Model(
        *("made up", "DeepseekV3ForCausalLM" if latent else "LlamaForCausalLM", Attention.MLA if latent else Attention.MHA, (case.kind,)),
        *(4096, 1000, 1e9, 1e9, "bfloat16", CONTEXT_LENGTH, "made up", case.soft_cap),
    )
    pool = replace(build_pool(PoolPlan(case.page_size, case.kv_dtype, POOL_TOKENS, SLOTS), case.kind, device, 1), scales=case.scales)
    sizes = {"max_batch": 16, "max_new_tokens": 2048, "deterministic": case.deterministic}
    stage = Stage(device, model, 1, CONTEXT_LENGTH, 8192, extras=EXTRAS, **sizes)
    arm = Arm(case.backend, Provider.ENGINE, "", case.page_size, case.kv_dtype, ("sglang", *PACKAGES[case.backend]))
    try:
        driver = SglangDriver(arm, stage, pool)
    except MissingPackage as error:
        pytest.skip(str(error))
    yield case, driver
    driver.close()


def laid_out(case: Case, driver: SglangDriver, phase: Phase, contexts: tuple[int, ...], new: tuple[int, ...]) -> CellData:
    prompts = tuple(max(1, context // 2) for context in contexts) if phase is Phase.DECODE else contexts
    padded = 8 if phase is Phase.DECODE else len(contexts)
    layer = attended(case.kind, "DeepseekV3ForCausalLM", phase)
    return lay_out(Cell("cell", phase, layer, contexts, new, prompts, padded, "bfloat16", 3), driver.engine.pool, CONTEXT_LENGTH)


def judge(case: Case, data: CellData, shot: Any) -> None:
    checker = Checker(data, SLOTS - 1, case.soft_cap)
    checker.check(shot, range(SLOTS))
    checker.check_needles(shot)


@pytest.mark.parametrize("name", [*PREFILLS, *LONG])
def test_prefill_is_right(opened: tuple[Case, SglangDriver], name: str) -> None:
    case, driver = opened
    if Phase.PREFILL not in case.phases or (name in LONG and not case.kind.latent):
        pytest.skip("not served so")
    data = laid_out(case, driver, Phase.PREFILL, *{**PREFILLS, **LONG}[name])
    call = driver.prepare(data)

    def shot() -> torch.Tensor:
        with call.active():
            call.plan()
            return [call.launch(slot) for slot in range(SLOTS)][-1]

    judge(case, data, shot)
    assert not call.graph and call.resolved
    call.close()


def test_decode_is_right_eagerly_and_recorded(opened: tuple[Case, SglangDriver]) -> None:
    import torch

    case, driver = opened
    if Phase.DECODE not in case.phases:
        pytest.skip("not served so")
    contexts = DECODES["decode"]
    data = laid_out(case, driver, Phase.DECODE, contexts, (1,) * len(contexts))
    call = driver.prepare(data)
    assert isinstance(call, GraphedDecode)

    def eager() -> torch.Tensor:
        with call.active():
            call.plan()
            return [call.launch(slot) for slot in range(SLOTS)][-1]

    judge(case, data, eager)
    graph, output = recorded(call)

    def replayed() -> torch.Tensor:
        with call.active():
            call.plan()
            graph.replay()
        torch.cuda.synchronize()
        return output

    judge(case, data, replayed)
    call.close()


@pytest.mark.parametrize("phase", list(Phase))
def test_a_call_is_right_as_it_is_timed(opened: tuple[Case, SglangDriver], phase: Phase) -> None:
    case, driver = opened
    if phase not in case.phases:
        pytest.skip("not served so")
    contexts = DECODES["decode"] if phase is Phase.DECODE else PREFILLS["fresh"][0]
    new = (1,) * len(contexts) if phase is Phase.DECODE else PREFILLS["fresh"][1]
    data = laid_out(case, driver, phase, contexts, new)
    call = driver.prepare(data)
    timed = make_timed(call, data, SLOTS, QUICK)
    assert min(timed.visit().us) > 0 and timed.mode == ("graph" if call.graph else "eager")
    checker = Checker(data, SLOTS - 1, case.soft_cap)
    checker.check(timed.shot, timed.written)
    checker.check_needles(timed.shot)
    timed.close()
    call.close()
