"""The engine's own attention layer object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backends.driver import CellData
    from backends.sglang.engine import Engine


def attention_layer(engine: Engine, data: CellData, slot: int, **shape: int) -> Any:
    """A RadixAttention on pool slot ``slot`` with the scales of an 8-bit KV cache, where it is one."""
    import torch
    from sglang.srt.layers.radix_attention import RadixAttention

    kind = data.cell.layer
    made: Any = RadixAttention(
        scaling=kind.softmax_scale,
        layer_id=slot,
        logit_cap=engine.stage.model.logit_softcap or 0.0,
        sliding_window_size=-1 if kind.sliding_window is None else kind.sliding_window - 1,
        **shape,
    )
    if data.pool.scales is not None:
        # as sglang/srt/layers/quantization/kv_cache.py, BaseKVCacheMethod.process_weights_after_loading
        made.k_scale_float, made.v_scale_float = data.pool.scales
        made.k_scale, made.v_scale = (torch.tensor(scale, dtype=torch.float32, device=data.q.device) for scale in data.pool.scales)
    return made
