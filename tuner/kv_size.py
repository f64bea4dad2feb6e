"""What a token takes of a server's KV pool, and how many the pool holds."""

from __future__ import annotations

from backends.model import Attention, Model
from tuner.ranks import Ranks, rank_kind


def bytes_per_token(model: Model, element_bytes: float, ranks: Ranks, window_share: float = 1.0) -> int:
    """In all layers on one rank, on average where ranks split a context. MLA stores K alone: V is part of it.
    ``window_share``: slots of the layers with a window for each slot of the others."""
    kinds = [rank_kind(kind, ranks) for kind in model.layers]
    widths = [kind.head_dim + (0 if model.attention is Attention.MLA else kind.value_head_dim) for kind in kinds]
    shares = [window_share if kind.sliding_window else 1.0 for kind in kinds]
    stored = sum(share * kind.layers * kind.kv_heads * width for kind, width, share in zip(kinds, widths, shares, strict=True))
    return round(element_bytes * stored / ranks.dcp)


def pool_tokens(memory_bytes: int | None, fraction: float | None, weights: int, token: int, page_size: int) -> int | None:
    """Tokens the KV pool holds, whole pages; None where memory is unknown or the weights alone fill it."""
    if memory_bytes is None or fraction is None:
        return None
    pages = int((memory_bytes * fraction - weights) / token) // page_size
    return pages * page_size if pages > 0 else None
