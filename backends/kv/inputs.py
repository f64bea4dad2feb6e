"""One cell laid out on the device: page table, lengths, and noise for queries and new keys and values."""

from __future__ import annotations

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

    def noise(heads: int, width: int) -> torch.Tensor:
        values = torch.randn((cell.new_tokens, heads, width), device=device, generator=generator)
        return values.to(dtype_of(cell.dtype))

    return CellData(
        cell=cell,
        pool=pool,
        req_to_token=_table(slots, context_length).to(device),
        seq_lens=torch.tensor(cell.context_lens, device=device),
        new_lens=torch.tensor(cell.new_lens, device=device),
        prefix_lens=torch.tensor(cell.prefix_lens, device=device),
        out_cache_loc=torch.cat([row[prefix:] for row, prefix in zip(slots, cell.prefix_lens)]).to(device),
        q=noise(cell.layer.query_heads, cell.layer.head_dim),
        k_new=noise(cell.layer.kv_heads, cell.layer.head_dim),
        v_new=noise(cell.layer.kv_heads, cell.layer.value_head_dim),
    )


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
