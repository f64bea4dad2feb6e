"""What a token takes of a server's KV pool, and how many the pool holds."""

from __future__ import annotations

from backends import dtypes
from backends.model import Attention, Model
from tuner.workload.ranks import Ranks, rank_kind

# Bytes of one element of a cache that an engine packs, by the engine's word: block scales are in, those of whole heads apart.
PACKED_BYTES = {
    **{"mxfp8": 1.0 + 1 / 32, "nvfp4": 0.5 + 1 / 16, "nvfp4_4over6": 0.5 + 1 / 16, "fp4_mx_block16": 0.5 + 1 / 16},
    **{"int4_per_token_head": 0.5, "int8_per_token_head": 1.0, "fp8_per_token_head": 1.0, "fp8_inc": 1.0},
    **{"fp8_ds_mla": 656 / 576, "nvfp4_ds_mla": 0.5 + 1 / 16},
    **{"turboquant_k8v4": 0.75, "turboquant_4bit_nc": 0.5, "turboquant_k3v4_nc": 3.5 / 8, "turboquant_3bit_nc": 3 / 8},
    **{"octave_k3v4": 3.5 / 8, "octave_k3v3": 3 / 8, "octave_k3v3_compact": 3 / 8, "ultraquant_4bit": 0.5},
}


def element_bytes(kv_dtype: str) -> float:
    """Raises ValueError for a text that names no dtype of a KV cache."""
    packed = PACKED_BYTES.get(kv_dtype)
    return dtypes.element_bytes(kv_dtype) if packed is None else packed


def bytes_per_token(model: Model, element_bytes: float, ranks: Ranks, window_share: float = 1.0) -> int:
    """In all layers on one rank, on average where ranks split a context. MLA stores K alone: V is part of it.
    ``window_share``: slots of the layers with a window for each slot of the others."""
    kinds = [rank_kind(kind, ranks) for kind in model.layers]
    widths = [kind.head_dim + (0 if model.attention is Attention.MLA else kind.value_head_dim) for kind in kinds]
    shares = [window_share if kind.sliding_window else 1.0 for kind in kinds]
    stored = sum(share * kind.layers * kind.kv_heads * width for kind, width, share in zip(kinds, widths, shares, strict=True))
    return round(element_bytes * stored / ranks.dcp)


def pool_tokens(static_bytes: int | None, weights: int, token: int, page_size: int) -> int | None:
    """Tokens the KV pool holds, whole pages, of the ``static_bytes`` that it and the weights may take; None where these are unknown or
    the weights alone fill them."""
    if static_bytes is None:
        return None
    pages = (static_bytes - weights) // token // page_size
    return pages * page_size if pages > 0 else None
