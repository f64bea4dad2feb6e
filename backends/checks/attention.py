"""Plain softmax attention over keys that a query may see, with windows, soft caps, sinks and drafts: what every kernel is to compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backends.drafting import NO_DRAFT, Tree, sees

if TYPE_CHECKING:
    import torch

    from backends.model import LayerKind


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    positions: torch.Tensor,
    layer: LayerKind,
    soft_cap: float | None,
    sinks: torch.Tensor | None = None,
    draft: Tree = NO_DRAFT,
) -> torch.Tensor:
    """Softmax attention of queries at ``positions`` over the keys they may see, all operands of one dtype.

    ``q`` [rows, query_heads, head_dim], ``k`` [context, kv_heads, head_dim], ``v`` [context, kv_heads, value_head_dim];
    ``sinks`` [query_heads], logits of a key that has no value; the context ends in the tokens of ``draft``; returns
    [rows, query_heads, value_head_dim].
    """
    import torch

    scores = logits(q, k, layer, soft_cap)
    hidden = ~visible(positions, len(k), layer.sliding_window, draft)
    scores = scores.masked_fill(hidden[:, None, None], -torch.inf)
    if sinks is not None:
        sink = sinks.to(scores.dtype).view(1, layer.kv_heads, layer.group, 1).expand(len(q), -1, -1, -1)
        scores = torch.cat([scores, sink], dim=-1)
    weights = torch.softmax(scores, dim=-1)[..., : len(k)]
    return torch.einsum("rhgk,khd->rhgd", weights, v).flatten(1, 2)


def logits(q: torch.Tensor, k: torch.Tensor, layer: LayerKind, soft_cap: float | None) -> torch.Tensor:
    """Scaled, capped scores [rows, kv_heads, group, context] of every key, visible or not."""
    import torch

    scores = torch.einsum("rhgd,khd->rhgk", q.view(len(q), layer.kv_heads, layer.group, -1), k) * layer.softmax_scale
    return scores if soft_cap is None else soft_cap * torch.tanh(scores / soft_cap)


def visible(positions: torch.Tensor, context: int, window: int | None, draft: Tree = NO_DRAFT) -> torch.Tensor:
    """bool [rows, context]: a query sees the keys up to its own place in the context, the last ``window`` of them, and of drafted ones
    those that its own token follows."""
    import torch

    distance = positions[:, None] - torch.arange(context, device=positions.device)
    seen = distance >= 0
    if draft:
        mask = torch.tensor(sees(draft), device=positions.device)
        seen[:, context - len(draft) :] = mask[positions - (context - len(draft))]
    return seen if window is None else seen & (distance < window)


@contextmanager
def full_precision() -> Iterator[None]:
    """float32 products without TF32 or bfloat16 shortcuts."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
