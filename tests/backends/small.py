"""Small models, cells and arms that the measuring tests share."""

from __future__ import annotations

from typing import Any

from backends.arm import Arm, Provider
from backends.cell import Cell, Phase
from backends.driver import CellData, KvPool
from backends.kv.inputs import lay_out
from backends.kv.layout import pages_needed
from backends.kv.pool import build_pool
from backends.kv.rotation import PoolPlan
from backends.model import Attention, LayerKind, Model
from backends.spec import StageSpec, TimingSpec
from backends.torch_bench import TorchBench

CONTEXT_LENGTH = 32_768
LAYER = LayerKind("full", layers=2, query_heads=8, kv_heads=2, head_dim=64, value_head_dim=64)
WINDOWED = LayerKind("window", layers=2, query_heads=8, kv_heads=2, head_dim=64, value_head_dim=64, sliding_window=32)
QUICK = TimingSpec(blocks=2, replays=4, replay_ms=0.2, discard_ms=0.0, warmup_s=0.0, warmup_cap_s=0.0)


def model(layer: LayerKind = LAYER, dtype: str = "float32", **fields: Any) -> Model:
    return Model("small", "LlamaForCausalLM", Attention.MHA, (layer,), 512, 1000, 1e6, 1e6, dtype, CONTEXT_LENGTH, "test", **fields)


def decode(*context_lens: int, generated: int = 1, layer: LayerKind = LAYER, dtype: str = "float32", name: str = "decode") -> Cell:
    """One request a context, the last ``generated`` tokens of each decoded step by step."""
    prompts = tuple(max(0, context - generated) for context in context_lens)
    batch = len(context_lens)
    return Cell(name, Phase.DECODE, layer, context_lens, (1,) * batch, prompts, batch, dtype, seed=1)


def prefill(*requests: tuple[int, int], layer: LayerKind = LAYER, dtype: str = "float32", name: str = "prefill") -> Cell:
    """Requests as (prefix, new tokens)."""
    contexts = tuple(prefix + new for prefix, new in requests)
    return Cell(name, Phase.PREFILL, layer, contexts, tuple(new for _, new in requests), contexts, len(requests), dtype, seed=2)


def laid_out(cell: Cell, page_size: int = 1, kv_dtype: str | None = None, device: Any = None, slots: int = 2) -> CellData:
    """The cell in a pool with a few pages to spare."""
    import torch

    tokens = (pages_needed(cell, page_size) + 3) * page_size
    plan = PoolPlan(page_size, kv_dtype or cell.dtype, tokens, slots)
    pool: KvPool = build_pool(plan, cell.layer, device or torch.device("cpu"), seed=3)
    return lay_out(cell, pool, CONTEXT_LENGTH)


def arm(driver: str, page_size: int = 1, kv_dtype: str = "float32", backend: str = "test") -> Arm:
    return Arm(backend, Provider.KERNEL, driver, page_size, kv_dtype)


def stage(layer: LayerKind = LAYER, device: str = "cpu", **fields: Any) -> StageSpec:
    dtype = fields.pop("dtype", "float32")
    return StageSpec(device, model(layer, dtype, **fields), 1, CONTEXT_LENGTH, 2048, None, 0.5)


def bench(kind: str = "cpu") -> TorchBench:
    opened = TorchBench(kind)
    opened.open()
    return opened


def silent(phase: str, arm: str | None = None, cell: str | None = None, detail: str | None = None) -> None:
    """A `Say` that nobody listens to."""
