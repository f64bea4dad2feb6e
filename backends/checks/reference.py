"""The plain answer: attention over the pool's own contents in float32, in float64 for some rows, and naively in the cell's dtype."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.checks.rows import RequestRows, choose_rows, spread

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.model import LayerKind

PAIRS = {"cuda": 1 << 31, "cpu": 1 << 25}  # query-head-and-key products a check may cost: well under a second on either
LOGITS_AT_ONCE = 1 << 25
EXACT_VALUES = 64  # at least so many (row, head) outputs are computed in float64 too


@dataclass(frozen=True)
class Expected:
    """Right outputs of some rows of a cell on one pool slot.

    ``rows`` int64 [n] and ``output`` float32 [n, query_heads, value_head_dim]; of those, ``exact_rows`` int64 [m] with
    ``exact`` in float64 and ``naive``: the same computed in the cell's own dtype, a measure of what that dtype must err.
    ``requests`` were looked at, from the shortest context to the longest.
    """

    requests: tuple[int, ...]
    rows: torch.Tensor
    output: torch.Tensor
    exact_rows: torch.Tensor
    exact: torch.Tensor
    naive: torch.Tensor


def expect(data: CellData, slot: int, soft_cap: float | None) -> Expected:
    """What a right kernel returns for ``data`` on pool ``slot``, whose new rows must hold ``k_new`` and ``v_new`` already."""
    import torch

    chosen = choose_rows(data.cell, PAIRS[data.q.device.type])
    few = _thin(chosen, max(8, -(-EXACT_VALUES // data.cell.layer.query_heads)))
    with full_precision():
        return Expected(
            requests=tuple(part.request for part in chosen),
            rows=_row_index(chosen, data),
            output=_outputs(data, slot, chosen, torch.float32, soft_cap),
            exact_rows=_row_index(few, data),
            exact=_outputs(data, slot, few, torch.float64, soft_cap),
            naive=_outputs(data, slot, few, data.q.dtype, soft_cap),
        )


def _thin(chosen: tuple[RequestRows, ...], count: int) -> tuple[RequestRows, ...]:
    """About ``count`` rows out of ``chosen``, those of the shortest and the longest context among them."""
    requests = [chosen[place] for place in spread(len(chosen), count)]
    each = max(2, -(-count // len(requests)))
    return tuple(
        RequestRows(part.request, *(tuple(values[place] for place in spread(len(values), each)) for values in (part.rows, part.positions)))
        for part in requests
    )


def _row_index(chosen: tuple[RequestRows, ...], data: CellData) -> torch.Tensor:
    import torch

    return torch.tensor([row for part in chosen for row in part.rows], device=data.q.device)


def _outputs(data: CellData, slot: int, chosen: tuple[RequestRows, ...], dtype: torch.dtype, soft_cap: float | None) -> torch.Tensor:
    import torch

    return torch.cat([_request_outputs(data, slot, part, dtype, soft_cap) for part in chosen])


def _request_outputs(data: CellData, slot: int, part: RequestRows, dtype: torch.dtype, soft_cap: float | None) -> torch.Tensor:
    import torch

    k, v = keys_and_values(data, slot, part.request, dtype)
    positions = torch.tensor(part.positions, device=k.device)
    queries = data.q[list(part.rows)].to(dtype)
    at_once = max(1, LOGITS_AT_ONCE // (len(k) * data.cell.layer.query_heads))
    pieces = zip(torch.split(queries, at_once), torch.split(positions, at_once))
    return torch.cat([attention(q, k, v, where, data.cell.layer, soft_cap) for q, where in pieces])


def keys_and_values(data: CellData, slot: int, request: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """A request's whole context out of the pool: [context, kv_heads, head_dim] and [.., value_head_dim] in ``dtype``."""
    where = data.req_to_token[request + 1, : data.cell.context_lens[request]].long()
    return data.pool.k[slot][where].to(dtype), data.pool.v[slot][where].to(dtype)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, positions: torch.Tensor, layer: LayerKind, soft_cap: float | None
) -> torch.Tensor:
    """Softmax attention of queries at ``positions`` over the keys they may see, all operands of one dtype.

    ``q`` [rows, query_heads, head_dim], ``k`` [context, kv_heads, head_dim], ``v`` [context, kv_heads, value_head_dim];
    returns [rows, query_heads, value_head_dim].
    """
    import torch

    scores = logits(q, k, layer, soft_cap)
    hidden = ~visible(positions, len(k), layer.sliding_window)
    weights = torch.softmax(scores.masked_fill(hidden[:, None, None], -torch.inf), dim=-1)
    return torch.einsum("rhgk,khd->rhgd", weights, v).flatten(1, 2)


def logits(q: torch.Tensor, k: torch.Tensor, layer: LayerKind, soft_cap: float | None) -> torch.Tensor:
    """Scaled, capped scores [rows, kv_heads, group, context] of every key, visible or not."""
    import torch

    scores = torch.einsum("rhgd,khd->rhgk", q.view(len(q), layer.kv_heads, layer.group, -1), k) * layer.softmax_scale
    return scores if soft_cap is None else soft_cap * torch.tanh(scores / soft_cap)


def visible(positions: torch.Tensor, context: int, window: int | None) -> torch.Tensor:
    """bool [rows, context]: a query sees the keys up to its own position, the last ``window`` of them."""
    import torch

    distance = positions[:, None] - torch.arange(context, device=positions.device)
    seen = distance >= 0
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
