"""Queries that each aim at one key, so that a lost or wrongly shown key is an error of order one.

With noise alone a lost key is a 1/context effect and passes any tolerance at long contexts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.checks.attention import attention, full_precision, logits
from backends.checks.reference import head_pieces, keys_and_values, keys_seen, of_heads
from backends.checks.rows import RequestRows, choose_rows
from backends.checks.targets import in_draft, targets
from backends.checks.tolerance import Incorrect, apart, relative_errors

if TYPE_CHECKING:
    import torch

    from backends.checks.narrow import Narrow
    from backends.driver import CellData
    from backends.model import LayerKind

LIMIT = 3e-2  # the aimed-at key carries about 99 % of the weight
MARGIN = 5.0  # a logit stands ln(context) + this above the rest
CLEARANCE = 0.1  # a key is aimed at if its own product leaves the next one this far behind
PAIRS = {"cuda": 1 << 26, "cpu": 1 << 23}


@dataclass(frozen=True)
class Needles:
    """``rows`` int64 [n] of the output, ``values`` float32 [n, query_heads, value_head_dim] that must come out there,
    ``aimed`` bool [n, query_heads]: a head whose key is too like another one is left out; ``kinds`` per row and head.
    ``spreads`` float32 [n, query_heads] of the logits over the ``keys`` int64 [n] that a row sees, where the one that is aimed at is
    hidden and what must come out is attention to those; 0 where it all but hangs on one key."""

    rows: torch.Tensor
    values: torch.Tensor
    aimed: torch.Tensor
    spreads: torch.Tensor
    keys: torch.Tensor
    kinds: tuple[tuple[str, ...], ...]


@contextmanager
def planted(data: CellData, slot: int, soft_cap: float | None) -> Iterator[Needles]:
    """``data.q`` aimed at keys of pool ``slot``, whose new rows hold ``k_new``; the former queries come back afterwards."""
    import torch

    chosen = choose_rows(data.cell, PAIRS[data.q.device.type])
    before = data.q.clone()
    try:
        with full_precision():
            parts = [_aim(data, slot, part, soft_cap) for part in chosen]
        yield Needles(
            rows=torch.cat([part.rows for part in parts]),
            values=torch.cat([part.values for part in parts]),
            aimed=torch.cat([part.aimed for part in parts]),
            spreads=torch.cat([part.spreads for part in parts]),
            keys=torch.cat([part.keys for part in parts]),
            kinds=tuple(kinds for part in parts for kinds in part.kinds),
        )
    finally:
        data.q.copy_(before)


def _aim(data: CellData, slot: int, part: RequestRows, soft_cap: float | None) -> Needles:
    """Overwrite the queries of ``part`` and say what must come out."""
    import torch

    plans = [_in_turn(data, part.request, row, position) for row, position in zip(part.rows, part.positions)]
    keys = torch.tensor([[key for _, key in plan] for plan in plans], device=data.q.device)
    seen = torch.tensor([[kind != "hidden" for kind, _ in plan] for plan in plans], device=data.q.device)
    pieces = head_pieces(data, part.request)
    found = [_aim_heads(data, slot, part, heads, keys[:, heads], seen[:, heads], soft_cap) for heads in pieces]
    values, aimed, spreads = (torch.cat(each, dim=1) for each in zip(*found))
    kinds = tuple(tuple(kind for kind, _ in plan) for plan in plans)
    return Needles(torch.tensor(part.rows, device=data.q.device), values, aimed, spreads, keys_seen((part,), data), kinds)


def _aim_heads(
    data: CellData, slot: int, part: RequestRows, heads: slice, keys: torch.Tensor, seen: torch.Tensor, soft_cap: float | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`Needles.values`, ``aimed`` and ``spreads`` of ``heads``; ``keys`` are theirs, ``seen`` which of those they may show."""
    import torch

    k, v = keys_and_values(data, slot, part.request, torch.float32, heads)
    layer = of_heads(data, k)
    kv_head = torch.arange(layer.query_heads, device=k.device) // layer.group
    wanted = k[keys, kv_head]
    strength, aimed = _strength(wanted, k, keys, layer)
    rows = torch.tensor(part.rows, device=k.device)
    data.q[rows, heads] = (wanted * strength[..., None]).to(data.q.dtype)
    where = torch.tensor(part.positions, device=k.device)
    queries = data.q[rows, heads].float()
    rest = attention(queries, k, v, where, layer, soft_cap, data.sinks, data.cell.draft)
    plain = soft_cap is None and data.sinks is None  # else a key that is aimed at has not all of the weight
    spreads = (layer.softmax_scale * torch.linalg.vector_norm(queries, dim=-1)).masked_fill(seen, 0.0)
    return torch.where(seen[..., None], v[keys, kv_head], rest) if plain else rest, aimed, spreads


def _in_turn(data: CellData, request: int, row: int, position: int) -> list[tuple[str, int]]:
    """One target a query head; neighbouring rows start their turn elsewhere, so that every kind meets every head."""
    cell = data.cell
    prefix, context = cell.prefix_lens[request], cell.context_lens[request]
    found = targets(position, prefix, context, data.pool.page_size, cell.layer.sliding_window)
    if cell.verifies:
        found = in_draft(found, cell.draft, position, prefix)
    return [found[(row + head) % len(found)] for head in range(cell.layer.query_heads)]


def _strength(wanted: torch.Tensor, k: torch.Tensor, keys: torch.Tensor, layer: LayerKind) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors [rows, query_heads] that lift each wanted key's logit ln(context) + MARGIN above all others; and which can."""
    scores = logits(wanted, k, layer, None).flatten(1, 2)
    own = scores.gather(-1, keys[..., None]).squeeze(-1)
    others = scores.scatter(-1, keys[..., None], -math.inf).amax(-1).clamp(min=0.0)
    gap = own - others
    aimed = gap > CLEARANCE * own
    return ((math.log(len(k)) + MARGIN) / gap).where(aimed, 1.0), aimed


def judge_needles(needles: Needles, output: torch.Tensor, limit: float = LIMIT, narrow: Narrow | None = None) -> float:
    """The largest relative error of the aimed-at values. Raises `Incorrect` naming the kind of key that was missed or shown."""
    import torch

    errors = relative_errors(output[needles.rows].float(), needles.values).masked_fill(~needles.aimed, 0.0)
    if not bool(needles.aimed.any()):
        raise Incorrect("no query could be aimed at a single key; contexts or head dim are too small to check")
    allowed = torch.full_like(errors, limit) if narrow is None else _allowed(needles, limit, narrow).to(errors.device)
    row, head = divmod(int((errors / allowed).argmax()), errors.shape[1])
    if not bool(errors[row, head] <= allowed[row, head]):
        raise missed(needles.kinds[row][head], float(errors[row, head]), float(allowed[row, head]))
    return float(errors.max())


def _allowed(needles: Needles, limit: float, narrow: Narrow) -> torch.Tensor:
    """What each may err, float32 [n, query_heads]."""
    import torch

    alone = limit + narrow.needle()
    of_rows = zip(needles.keys.tolist(), needles.spreads.tolist())
    return torch.tensor([[max(limit, narrow.beside(keys, spread)) if spread else alone for spread in row] for keys, row in of_rows])


def missed(kind: str, error: float, limit: float = LIMIT) -> Incorrect:
    found, right = apart(error, limit)
    return Incorrect(f"a query aimed at one key ({kind}) errs by {found}, at most {right} is right")
