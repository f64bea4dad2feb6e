"""Every feature that a backend declares, on a GPU: right eagerly, right when it is recorded and replayed, and right as it is timed.

Which backend declares what is read from its entry's limits (declared.py): there is no second list.
Without the rest of the tool: pytest -m gpu --noconftest tests/backends/sglang/test_features_cuda.py -k "fa3 or triton or trtllm_mha"
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from backends.arm import Arm, Provider
from backends.cell import Cell
from backends.checks.checker import Checker
from backends.checks.tolerance import Incorrect
from backends.deviation import known_on
from backends.driver import CellData, Stage
from backends.kv.inputs import lay_out
from backends.kv.pool import build_pool
from backends.kv.rotation import PoolPlan
from backends.question import RULES
from backends.sglang.calls import EagerCall
from backends.sglang.capture import GraphedStep
from backends.sglang.driver import SglangDriver
from backends.timing.timed import make_timed
from tests.backends.sglang.declared import Declared, declared, driven, engine_driver, entries
from tests.backends.sglang.features import FEATURES, LARGE
from tests.backends.sglang.test_driver_cuda import recorded
from tests.backends.small import QUICK

if TYPE_CHECKING:
    import torch

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]

SLOTS, POOL_TOKENS, CONTEXT_LENGTH = 4, 65_536, 32_768
PADDED = 3  # requests that a captured batch has more than the cell
TIMED = ("plain", "latent", "verify a chain of 4", "mixed chunks")
EXTRAS: dict[str, Any] = {}


def rules() -> str:
    """Of the SGLang that is there, or else of the newest."""
    try:
        version = importlib.metadata.version("sglang")
    except importlib.metadata.PackageNotFoundError:
        return RULES[-1]
    return version if version in RULES else RULES[-1]


def cells(one: Declared) -> tuple[Cell, ...]:
    return tuple(one.feature.cells(LARGE, "bfloat16", one.phases, PADDED))


def cases() -> Iterator[Declared]:
    each = (declared(entry, feature, rules()) for entry in driven() for feature in FEATURES)
    return (one for one in each if cells(one))


@pytest.fixture(scope="module", params=cases(), ids=str)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Declared, SglangDriver]]:
    import torch

    one: Declared = request.param
    written = engine_driver(entries()[one.backend])
    assert written is not None
    for package in written.packages:
        pytest.importorskip(package)
    feature, device = one.feature, torch.device("cuda")
    plan = PoolPlan(one.page_size, feature.kv_dtype, POOL_TOKENS, SLOTS)
    pool = replace(build_pool(plan, feature.kind(LARGE), device, 1), scales=feature.scales)
    sizes = {"max_batch": 16, "max_new_tokens": 2048, "deterministic": feature.deterministic, "drafting": feature.drafting}
    stage = Stage(device, feature.model(LARGE, "bfloat16", CONTEXT_LENGTH), 1, CONTEXT_LENGTH, 8192, extras=EXTRAS, **sizes)
    arm = Arm(one.backend, Provider.ENGINE, "", one.page_size, feature.kv_dtype, written.packages)
    driver = SglangDriver(arm, stage, pool)
    yield one, driver
    driver.close()
    torch.cuda.empty_cache()


def laid_out(driver: SglangDriver, cell: Cell) -> CellData:
    return lay_out(cell, driver.engine.pool, CONTEXT_LENGTH)


def judge(one: Declared, data: CellData, shot: Callable[[], torch.Tensor], written: Any = range(SLOTS)) -> None:
    """Where a note says that answers may be wrong, a wrong one is what the check is for."""
    checker = Checker(data, SLOTS - 1, one.feature.soft_cap, known_on(one.deviations, data.cell))
    try:
        checker.check(shot, written)
        checker.check_needles(shot)
    except Incorrect as error:
        if data.cell.phase not in one.doubtful:
            raise Incorrect(f"{data.cell.name}: {error}") from error


def eager(call: EagerCall) -> torch.Tensor:
    with call.active():
        call.plan()
        return [call.launch(slot) for slot in range(SLOTS)][-1]


def test_each_step_is_right_eagerly_and_recorded(opened: tuple[Declared, SglangDriver]) -> None:
    one, driver = opened
    for cell in cells(one):
        data = laid_out(driver, cell)
        call = driver.prepare(data)
        judge(one, data, lambda call=call: eager(call))
        if isinstance(call, GraphedStep):
            _judge_replays(one, call)
        assert call.resolved and call.graph is (cell.generates and entries()[one.backend].graph)
        call.close()
    assert not driver.engine.context.fallbacks


def _judge_replays(one: Declared, call: GraphedStep) -> None:
    import torch

    graph, output = recorded(call)

    def replayed() -> torch.Tensor:
        with call.active():
            call.plan()
            graph.replay()
        torch.cuda.synchronize()
        return output

    judge(one, call.data, replayed)


def test_a_step_is_right_as_it_is_timed(opened: tuple[Declared, SglangDriver]) -> None:
    one, driver = opened
    if one.feature.name not in TIMED:
        pytest.skip("timed with plain heads, latent ones, drafts and mixed chunks alone")
    for cell in cells(one):
        data = laid_out(driver, cell)
        call = driver.prepare(data)
        timed = make_timed(call, data, SLOTS, QUICK)
        assert min(timed.visit().us) > 0 and timed.mode == ("graph" if call.graph else "eager")
        judge(one, data, timed.shot, timed.written)
        timed.close()
        call.close()
