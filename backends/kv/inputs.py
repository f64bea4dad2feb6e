"""One cell laid out on the device: page table, lengths, and noise for queries and new keys and values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.device import dtype_of
from backends.driver import CellData
from backends.kv.layout import request_pages

if TYPE_CHECKING:
    import torch

    from backends.cell import Cell
    from backends.driver import KvPool


def lay_out(cell: Cell, pool: KvPool, context_length: int) -> CellData:
    """The cell's requests in ``pool``; values drawn from N(0, 1) with the cell's seed in the cell's dtype.

    Raises `PoolTooSmall` when the pool cannot hold them, ValueError when a context exceeds ``context_length``.
    """
    import torch

    if max(cell.context_lens) > context_length:
        raise ValueError(f"cell {cell.name} has a context of {max(cell.context_lens)} tokens, the server allows {context_length}")
    device = pool.k[0].device
    generator = torch.Generator(device).manual_seed(cell.seed)
    slots = _slot_rows(cell, pool)
    q, k_new, v_new = _new_rows(cell, generator)
    return CellData(
        cell=cell,
        pool=pool,
        req_to_token=_table(slots, context_length).to(device),
        seq_lens=torch.tensor(cell.context_lens, device=device),
        new_lens=torch.tensor(cell.new_lens, device=device),
        prefix_lens=torch.tensor(cell.prefix_lens, device=device),
        out_cache_loc=torch.cat([row[prefix:] for row, prefix in zip(slots, cell.prefix_lens)]).to(device),
        q=q,
        k_new=k_new,
        v_new=v_new,
        up=_projections(cell, generator),
        sinks=_sinks(cell, generator),
    )


def _new_rows(cell: Cell, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`CellData.q`, ``k_new`` and ``v_new``."""
    import torch

    def noise(heads: int, width: int) -> torch.Tensor:
        values = torch.randn((cell.new_tokens, heads, width), device=generator.device, generator=generator)
        return values.to(dtype_of(cell.dtype))

    q = noise(cell.layer.query_heads, cell.layer.head_dim)
    heads, width, value_width = cell.layer.cached
    k_new = noise(heads, width)
    return q, k_new, k_new[..., :value_width] if cell.layer.latent else noise(heads, value_width)


def _sinks(cell: Cell, generator: torch.Generator) -> torch.Tensor | None:
    """`CellData.sinks`, each about as heavy as all keys that a request of middling length sees, so that none goes unnoticed."""
    import torch

    if not cell.layer.sinks:
        return None
    middling = sorted(cell.context_lens)[cell.batch // 2]
    seen = min(middling, cell.layer.sliding_window or middling)
    weight = math.log(seen) + 0.5  # of as many logits of variance 1
    noise = torch.randn(cell.layer.query_heads, device=generator.device, generator=generator)
    logits: torch.Tensor = (weight + 0.5 * noise).to(dtype_of(cell.dtype)).float()
    return logits


def _projections(cell: Cell, generator: torch.Generator) -> torch.Tensor | None:
    """`CellData.up`, so scaled that what is projected is N(0, 1) too."""
    import torch

    if cell.layer.projected_from is None:
        return None
    width, rank = cell.layer.projected_from
    rows = cell.layer.head_dim - (width - rank) + cell.layer.value_head_dim
    values = torch.randn((cell.layer.query_heads, rows, rank), device=generator.device, generator=generator)
    scaled: torch.Tensor = (values * rank**-0.5).to(dtype_of(cell.dtype))
    return scaled


def _slot_rows(cell: Cell, pool: KvPool) -> list[torch.Tensor]:
    """The pool slots of each request's tokens in order, int64, on the host."""
    import torch

    size = pool.page_size
    pages = request_pages(cell, size, pool.pool_tokens // size)
    within = torch.arange(size)
    return [(torch.tensor(held)[:, None] * size + within).flatten()[:context] for held, context in zip(pages, cell.context_lens)]


def _table(slots: list[torch.Tensor], context_length: int) -> torch.Tensor:
    """`CellData.req_to_token` on the host: int32 [requests + 1, context_length], row 0 for padded requests."""
    import torch

    table = torch.zeros((len(slots) + 1, context_length), dtype=torch.int32)
    for row, request in zip(table[1:], slots):
        row[: len(request)] = request
    return table
