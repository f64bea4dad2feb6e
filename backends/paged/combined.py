"""A pool with K and V of a token side by side in one allocation, as other engines lay theirs out: to see what the layout is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.driver import KvPool


def combine(pool: KvPool) -> KvPool:
    """``pool`` itself, its layers moved one by one: ``k[slot]`` and ``v[slot]`` are now [rows, kv_heads, dim] of [rows, 2, kv_heads, dim].
    Raises ValueError for latent vectors, which are one already, and for unequal widths."""
    import torch

    if pool.k[0].shape != pool.v[0].shape:
        raise ValueError("K and V of different widths cannot lie side by side; leave the pool as it is")
    for slot in range(pool.slots):
        joined = torch.stack([pool.k[slot], pool.v[slot]], dim=1)
        pool.k[slot], pool.v[slot] = joined[:, 0], joined[:, 1]
    return pool
