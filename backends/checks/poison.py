"""Leaves NaN where the next output will lie, so that what is never written shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.driver import CellData


def leave_poison(data: CellData) -> None:
    """An allocation of the size of the cell's output, filled and given back: the allocator hands out what came back last. Where
    it does not, nothing is shown and nothing is harmed."""
    import torch

    layer = data.cell.layer
    torch.full((data.cell.new_tokens, layer.query_heads * layer.value_head_dim), torch.nan, dtype=data.q.dtype, device=data.q.device)
