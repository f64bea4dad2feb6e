"""Every driver of the `backend` group does what `backends.driver` asks of it, on each kind of device it names."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import conf
from backends.arm import Arm, Provider
from backends.cell import Cell, Phase
from backends.checks.checker import Checker
from backends.device import dtype_of
from backends.driver import CellData, Driver, Stage
from backends.kv.inputs import lay_out
from backends.kv.layout import pages_needed
from backends.kv.pool import build_pool
from backends.kv.rotation import PoolPlan
from backends.model import Attention, LayerKind
from backends.phases import Phases
from backends.seat import Seat
from tests.backends.small import CONTEXT_LENGTH, QUICK, bench, decode, model, prefill, silent
from tuner.composing.shipped import LOADER

SLOTS = 4
CPU_LAYER = LayerKind("full", layers=2, query_heads=4, kv_heads=2, head_dim=64, value_head_dim=64)
CUDA_LAYER = LayerKind("full", layers=2, query_heads=16, kv_heads=4, head_dim=128, value_head_dim=128)
UNSERVED = {("trtllm_mha", Phase.PREFILL)}
LATENT_LAYER = LayerKind("latent", layers=2, query_heads=16, kv_heads=1, head_dim=576, value_head_dim=512, scale=0.1352)
LATENT = ("DeepseekV3ForCausalLM", Attention.MLA)
KINDS = {("cpu", "mha"): (CPU_LAYER, "float32"), ("cuda", "mha"): (CUDA_LAYER, "bfloat16"), ("cuda", "mla"): (LATENT_LAYER, "bfloat16")}


def cells(device: str, attention: str) -> list[Cell]:
    """Of latent attention decode alone: its prefill is the model's too (`tests/backends/sglang/test_features_cuda.py`)."""
    layer, dtype = KINDS[device, attention]
    kind: dict[str, Any] = {"layer": layer, "dtype": dtype}
    decodes = [decode(17, 300, 129, 64, generated=9, name="ragged decode", **kind), decode(700, name="one request", **kind)]
    if attention == "mla":
        return decodes
    return [
        *decodes,
        prefill((0, 200), name="fresh prefill", **kind),
        prefill((130, 70), name="prefill on a prefix", **kind),
        prefill((0, 33), (64, 65), (200, 1), name="mixed prefill", **kind),
    ]


def drivers() -> Iterator[Any]:
    """(backend, driver's entry, device, attention, page size) of every conf entry."""
    for path in sorted((Path(conf.__path__[0]) / "backend").glob("*.yaml")):
        described = yaml.load(path.read_text(), LOADER)
        for entry in described.get("drivers", ()):
            taken = itertools.product(entry["devices"], entry.get("attention", ["mha"]), page_sizes(described))
            for device, attention, page_size in taken:
                name = f"{path.stem}-{entry['provider']}-{device}-{attention}-p{page_size}"
                marks = [pytest.mark.gpu] if device == "cuda" else []
                yield pytest.param((path.stem, entry, device, attention, page_size), id=name, marks=[*marks, pytest.mark.timeout(600)])


def page_sizes(described: dict[str, Any]) -> list[int]:
    """Two that no limit of the backend refuses on every device."""
    limits = [limit for limit in described["limits"] if limit["rule"] == "page_size" and set(limit.get("when", ())) <= {"phase"}]
    return [size for size in (1, 16, 64) if all(size in limit["allowed"] for limit in limits)][:2]


@dataclass
class Opened:
    driver: Driver
    arm: Arm
    data: dict[str, CellData]
    device: str

    def seat(self, cell: str) -> Seat:
        if cell not in self.data:
            pytest.skip("of latent attention decode alone is tested here")
        if (self.arm.backend, self.data[cell].cell.phase) in UNSERVED:
            pytest.skip("SGLang before 0.5.22 does not serve it so on Hopper")
        with torch.no_grad():
            return Seat(self.arm, self.driver, self.data[cell], SLOTS, Phases(silent), bench(self.device))


@pytest.fixture(scope="module", params=drivers())
def opened(request: pytest.FixtureRequest) -> Iterator[Opened]:
    backend, entry, device, attention, page_size = request.param
    for package in entry["packages"]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    layer, dtype = KINDS[device, attention]
    arm = Arm(backend, Provider(entry["provider"]), entry["driver"], page_size, dtype, tuple(entry["packages"]))
    mine = cells(device, attention)
    tokens = max(pages_needed(cell, page_size) for cell in mine) * page_size
    pool = build_pool(PoolPlan(page_size, dtype, tokens, SLOTS), layer, torch.device(device), seed=0)
    served = model(layer, dtype)
    if attention == "mla":
        served = replace(served, architecture=LATENT[0], attention=LATENT[1])
    stage = Stage(torch.device(device), served, 1, CONTEXT_LENGTH, 2048, max_batch=4, max_new_tokens=256)
    module, _, name = arm.driver.partition(":")
    driver: Driver = getattr(importlib.import_module(module), name)(arm, stage, pool)
    yield Opened(driver, arm, {cell.name: lay_out(cell, pool, CONTEXT_LENGTH) for cell in mine}, device)
    driver.close()


CELL_NAMES = [cell.name for cell in cells("cpu", "mha")]


@pytest.fixture(params=CELL_NAMES)
def seat(request: pytest.FixtureRequest, opened: Opened) -> Iterator[Seat]:
    with torch.no_grad():
        seat = opened.seat(request.param)
        yield seat
        seat.close()


def test_a_driver_answers_as_the_reference_does_eagerly_and_as_it_is_timed(seat: Seat) -> None:
    checker = Checker(seat.data, SLOTS - 1, None)
    checker.check(seat.eager_shot, [SLOTS - 1])
    checker.check_needles(seat.eager_shot)
    timed = seat.capture(QUICK)
    checker.check(timed.shot, timed.written)
    checker.check_needles(timed.shot)
    samples = timed.visit().us
    assert samples and all(math.isfinite(sample) and sample > 0 for sample in samples)
    checker.check(timed.shot, timed.written)


def test_a_driver_says_what_ran_and_what_its_numbers_depend_on(opened: Opened) -> None:
    seat = opened.seat("ragged decode")
    assert seat.call.resolved
    assert "torch" in opened.driver.imports
    seat.close()


def test_a_driver_writes_only_the_new_rows(opened: Opened) -> None:
    name = "prefill on a prefix" if opened.arm.backend != "trtllm_mha" and "prefill on a prefix" in opened.data else "ragged decode"
    data = opened.data[name]
    others = torch.ones(len(data.pool.k[0]), dtype=torch.bool, device=data.q.device)
    others[data.out_cache_loc] = False
    before = [layer.clone() for layer in (*data.pool.k, *data.pool.v)]
    opened.seat(name).close()
    for layer, was in zip((*data.pool.k, *data.pool.v), before):
        assert torch.equal(layer[others], was[others])
    assert dtype_of(opened.arm.kv_dtype) == data.pool.k[0].dtype
