"""Queries that each aim at one key, so that a lost or wrongly shown key is an error of order one.

With noise alone a lost key is a 1/context effect and passes any tolerance at long contexts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.checks.reference import attention, full_precision, head_pieces, keys_and_values, logits, of_heads
from backends.checks.rows import RequestRows, choose_rows
from backends.checks.tolerance import Incorrect, relative_errors
from backends.drafting import Tree, sees

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.model import LayerKind

LIMIT = 3e-2  # the aimed-at key carries about 99 % of the weight
MARGIN = 5.0  # a logit stands ln(context) + this above the rest
CLEARANCE = 0.1  # a key is aimed at if its own product leaves the next one this far behind
PAIRS = {"cuda": 1 << 26, "cpu": 1 << 23}
BLOCKS = (64, 128)  # kernels cut a context into whole blocks of keys


@dataclass(frozen=True)
class Needles:
    """``rows`` int64 [n] of the output, ``values`` float32 [n, query_heads, value_head_dim] that must come out there,
    ``aimed`` bool [n, query_heads]: a head whose key is too like another one is left out; ``kinds`` per row and head."""

    rows: torch.Tensor
    values: torch.Tensor
    aimed: torch.Tensor
    kinds: tuple[tuple[str, ...], ...]


def targets(position: int, prefix: int, context: int, page_size: int, window: int | None) -> list[tuple[str, int]]:
    """Keys worth aiming at from a query at ``position``, as (kind, key): the ends and the seams a kernel may get wrong.

    "hidden" keys must not show: the one just outside the window and the one after the query.
    """
    oldest = 0 if window is None else max(0, position - window + 1)
    last_page = (position + 1) // page_size * page_size
    splits = [(position + 1) * part // 8 // block * block for part, block in zip(range(1, 8), BLOCKS * 4)]
    found = [("oldest", oldest), ("newest", position)]
    found += [("page edge", key) for edge in (page_size, last_page) for key in (edge - 1, edge)]
    found += [("split edge", key) for edge in (*splits, prefix) for key in (edge - 1, edge)]
    seen = [(kind, key) for kind, key in found if oldest <= key <= position]
    hidden = [("hidden", key) for key in (oldest - 1, position + 1) if 0 <= key < context]
    return seen[:2] + hidden + list(dict.fromkeys(seen[2:]))


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
    values, aimed = (torch.cat(each, dim=1) for each in zip(*found))
    kinds = tuple(tuple(kind for kind, _ in plan) for plan in plans)
    return Needles(torch.tensor(part.rows, device=data.q.device), values, aimed, kinds)


def _aim_heads(
    data: CellData, slot: int, part: RequestRows, heads: slice, keys: torch.Tensor, seen: torch.Tensor, soft_cap: float | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """What must come out of ``heads``, and which of them are aimed; ``keys`` are theirs, ``seen`` which of those they may show."""
    import torch

    k, v = keys_and_values(data, slot, part.request, torch.float32, heads)
    layer = of_heads(data, k)
    kv_head = torch.arange(layer.query_heads, device=k.device) // layer.group
    wanted = k[keys, kv_head]
    strength, aimed = _strength(wanted, k, keys, layer)
    rows = torch.tensor(part.rows, device=k.device)
    data.q[rows, heads] = (wanted * strength[..., None]).to(data.q.dtype)
    where = torch.tensor(part.positions, device=k.device)
    rest = attention(data.q[rows, heads].float(), k, v, where, layer, soft_cap, data.sinks, data.cell.draft)
    plain = soft_cap is None and data.sinks is None  # else a key that is aimed at has not all of the weight
    return torch.where(seen[..., None], v[keys, kv_head], rest) if plain else rest, aimed


def _in_turn(data: CellData, request: int, row: int, position: int) -> list[tuple[str, int]]:
    """One target a query head; neighbouring rows start their turn elsewhere, so that every kind meets every head."""
    cell = data.cell
    prefix, context = cell.prefix_lens[request], cell.context_lens[request]
    found = targets(position, prefix, context, data.pool.page_size, cell.layer.sliding_window)
    if cell.verifies:
        found = in_draft(found, cell.draft, position, prefix)
    return [found[(row + head) % len(found)] for head in range(cell.layer.query_heads)]


def in_draft(found: list[tuple[str, int]], draft: Tree, position: int, prefix: int) -> list[tuple[str, int]]:
    """The targets of a drafted token: of drafted keys those it follows, and as hidden ones its rivals and what comes after."""
    seen = sees(draft)[position - prefix]
    drafted = [("draft" if seen[token] else "hidden", prefix + token) for token in range(len(draft)) if prefix + token != position]
    return [(kind, key) for kind, key in found if key < prefix or key == position] + drafted


def _strength(wanted: torch.Tensor, k: torch.Tensor, keys: torch.Tensor, layer: LayerKind) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors [rows, query_heads] that lift each wanted key's logit ln(context) + MARGIN above all others; and which can."""
    scores = logits(wanted, k, layer, None).flatten(1, 2)
    own = scores.gather(-1, keys[..., None]).squeeze(-1)
    others = scores.scatter(-1, keys[..., None], -math.inf).amax(-1).clamp(min=0.0)
    gap = own - others
    aimed = gap > CLEARANCE * own
    return ((math.log(len(k)) + MARGIN) / gap).where(aimed, 1.0), aimed


def judge_needles(needles: Needles, output: torch.Tensor, limit: float = LIMIT) -> float:
    """The largest relative error of the aimed-at values. Raises `Incorrect` naming the kind of key that was missed or shown."""
    errors = relative_errors(output[needles.rows].float(), needles.values).masked_fill(~needles.aimed, 0.0)
    if not bool(needles.aimed.any()):
        raise Incorrect("no query could be aimed at a single key; contexts or head dim are too small to check")
    worst = float(errors.max())
    if not worst <= limit:
        row, head = divmod(int(errors.argmax()), errors.shape[1])
        raise missed(needles.kinds[row][head], worst, limit)
    return worst


def missed(kind: str, error: float, limit: float = LIMIT) -> Incorrect:
    return Incorrect(f"a query aimed at one key ({kind}) errs by {error:.2e}, at most {limit:.0e} is right")
