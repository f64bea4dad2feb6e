"""A model's attention layers, one a pool slot: what they are called with, and what the engine's models add to a call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from backends.sglang import latent
from backends.sglang.radix import attention_layer

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.sglang.engine import Engine

# (q, k, v: [tokens, heads x dim], the batch) -> [tokens, query heads x value head dim]
Layer = Callable[["torch.Tensor", "torch.Tensor", "torch.Tensor", Any], "torch.Tensor"]


def layers_of(engine: Engine, data: CellData) -> list[Layer]:
    """The layers of the cell's kind, heads per rank."""
    kind = data.cell.layer
    if kind.latent:
        return latent.layers_of(engine, data)
    added = {} if data.sinks is None else {"sinks": data.sinks.to(sinks_dtype(engine))}
    shape = {"num_heads": kind.query_heads, "num_kv_heads": kind.kv_heads, "head_dim": kind.head_dim, "v_head_dim": kind.value_head_dim}
    return [partial(attention_layer(engine, data, slot, **shape), **added) for slot in range(engine.pool.slots)]


def sinks_dtype(engine: Engine) -> torch.dtype:
    """As the weights are loaded (sglang/srt/models/gpt_oss.py, GptOssAttention.__init__)."""
    import torch

    return torch.float32 if engine.arm.backend == "trtllm_mha" else engine.runner.dtype
