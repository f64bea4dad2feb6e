"""The plain answer: attention over the pool's own contents in float32, in float64 for some rows, and naively in the cell's dtype."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.checks.attention import attention, full_precision, visible
from backends.checks.rows import RequestRows, choose_rows, spread

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.model import LayerKind

PAIRS = {"cuda": 1 << 31, "cpu": 1 << 25}  # query-head-and-key products a check may cost: well under a second on either
LOGITS_AT_ONCE = 1 << 25
PROJECTED_AT_ONCE = 1 << 27  # keys and values of latent heads: 1 GiB in float64, beside pools that leave a few
EXACT_VALUES = 64  # at least so many (row, head) outputs are computed in float64 too


@dataclass(frozen=True)
class Expected:
    """Right outputs of some rows of a cell on one pool slot.

    ``rows`` int64 [n] and ``output`` float32 [n, query_heads, value_head_dim]; of those, ``exact_rows`` int64 [m] with
    ``exact`` in float64 and ``naive``: the same computed in the cell's own dtype, a measure of what that dtype must err.
    ``requests`` were looked at, from the shortest context to the longest; ``keys`` int64 [n] are how many each of ``rows`` sees.
    """

    requests: tuple[int, ...]
    rows: torch.Tensor
    output: torch.Tensor
    exact_rows: torch.Tensor
    exact: torch.Tensor
    naive: torch.Tensor
    keys: torch.Tensor


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
            keys=keys_seen(chosen, data),
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


def keys_seen(chosen: tuple[RequestRows, ...], data: CellData) -> torch.Tensor:
    """How many keys each row of ``chosen`` sees, int64."""
    import torch

    cell, window, device = data.cell, data.cell.layer.sliding_window, data.q.device
    places = [(torch.tensor(part.positions, device=device), cell.context_lens[part.request]) for part in chosen]
    return torch.cat([visible(where, context, window, cell.draft).sum(dim=1) for where, context in places])


def _outputs(data: CellData, slot: int, chosen: tuple[RequestRows, ...], dtype: torch.dtype, soft_cap: float | None) -> torch.Tensor:
    import torch

    return torch.cat([_request_outputs(data, slot, part, dtype, soft_cap) for part in chosen])


def _request_outputs(data: CellData, slot: int, part: RequestRows, dtype: torch.dtype, soft_cap: float | None) -> torch.Tensor:
    import torch

    outputs = [_head_outputs(data, slot, part, heads, dtype, soft_cap) for heads in head_pieces(data, part.request)]
    return torch.cat(outputs, dim=1)


def _head_outputs(data: CellData, slot: int, part: RequestRows, heads: slice, dtype: torch.dtype, soft_cap: float | None) -> torch.Tensor:
    import torch

    k, v = keys_and_values(data, slot, part.request, dtype, heads)
    layer = of_heads(data, k)
    positions = torch.tensor(part.positions, device=k.device)
    queries = data.q[list(part.rows), heads].to(dtype)
    at_once = max(1, LOGITS_AT_ONCE // (len(k) * layer.query_heads))
    pieces = zip(torch.split(queries, at_once), torch.split(positions, at_once))
    return torch.cat([attention(q, k, v, where, layer, soft_cap, data.sinks, data.cell.draft) for q, where in pieces])


def head_pieces(data: CellData, request: int) -> list[slice]:
    """Query heads that are looked at together: all, but of latent heads no more than `PROJECTED_AT_ONCE` holds of the whole context."""
    if data.up is None:
        return [slice(None)]
    at_once = max(1, PROJECTED_AT_ONCE // (data.cell.context_lens[request] * data.up.shape[1]))
    return [slice(first, first + at_once) for first in range(0, data.cell.layer.query_heads, at_once)]


def of_heads(data: CellData, k: torch.Tensor) -> LayerKind:
    """The cell's layer with as many heads as ``k`` of `keys_and_values` was asked for."""
    layer = data.cell.layer
    return layer if data.up is None else replace(layer, query_heads=k.shape[1], kv_heads=k.shape[1])


def keys_and_values(
    data: CellData, slot: int, request: int, dtype: torch.dtype, heads: slice = slice(None)
) -> tuple[torch.Tensor, torch.Tensor]:
    """A request's whole context out of the pool: [context, kv_heads, head_dim] and [.., value_head_dim] in ``dtype``. Of latent heads
    those of ``heads``, one of `head_pieces`."""
    where = data.req_to_token[request + 1, : data.cell.context_lens[request]].long()
    scales = data.pool.scales or (1.0, 1.0)
    k, v = (stored[slot][where].to(dtype) * scale for stored, scale in zip((data.pool.k, data.pool.v), scales))
    return (k, v) if data.up is None else _projected(k, v, data.up[heads].to(dtype), data.cell.layer.value_head_dim)


def _projected(k: torch.Tensor, latent: torch.Tensor, up: torch.Tensor, value_width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Each head's K and V from the latent heads; all share the vector's tail, which carries the positions."""
    import torch

    both = torch.einsum("kl,hwl->khw", latent[:, 0], up)
    tail = k[..., latent.shape[-1] :].expand(-1, len(up), -1)
    projected = both.shape[-1] - value_width
    return torch.cat([both[..., :projected], tail], dim=-1), both[..., projected:]
