"""A layer's pool as kernels take it: pages, and the two parts of a latent vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from backends.model import LayerKind


def pages(layer: torch.Tensor, page_size: int) -> torch.Tensor:
    """[pages, page_size, kv_heads, dim] of [rows, kv_heads, dim], whose rows may lie apart."""
    return layer.view(-1, page_size, *layer.shape[1:])


def heads_first(layer: torch.Tensor, page_size: int) -> torch.Tensor:
    """[pages, kv_heads, page_size, dim] without a copy. Of a single head the stride is that of a page, which kernels look at
    (sglang/kernels/ops/attention/utils.py, canonicalize_stride)."""
    view = pages(layer, page_size).permute(0, 2, 1, 3)
    page, _, token, one = view.stride()
    return view.as_strided(view.shape, (page, page, token, one)) if view.shape[1] == 1 else view


def latent_parts(vectors: torch.Tensor, layer: LayerKind) -> tuple[torch.Tensor, torch.Tensor]:
    """What values are read from and the part with positions: [.., value_head_dim] and the rest."""
    return vectors[..., : layer.value_head_dim], vectors[..., layer.value_head_dim :]
