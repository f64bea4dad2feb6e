"""How many layer pools a cell rotates over so that its KV is as cold as in serving, and what of it fits in memory.

In serving a layer's KV is read once a step, and between two reads all other layers' KV and all weights pass through the
cache. A rotation over enough pools of their own does the same; query, page table and output stay shared and warm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from backends.cell import Cell, attention_flops, kv_bytes

MIN_SLOTS, MAX_SLOTS = 4, 1024  # at most as many as a graph has launches
CACHES_BETWEEN_READS = 3  # times the last-level cache is overwritten before a pool comes round again
# A call that computes far longer than it reads hides where its keys came from. Operations a device can do while it reads
# one byte, rounded up (H200: 790 TFLOP/s over 4.3 TB/s = 184; x86 cores: 5 to 10); 100 times that bounds the bias to 1 %.
FLOPS_PER_BYTE = {"cuda": 200.0, "cpu": 10.0}
HIDDEN = 100.0


class NotEnoughMemory(MemoryError):
    """Not even two pools of the cells' own size fit into the budget."""


def slots_wanted(cell: Cell, cache_bytes: int, element_bytes: float, device_type: str) -> int:
    """Pools the cell rotates over: enough that `CACHES_BETWEEN_READS` caches of other KV lie between two reads of one."""
    unique = kv_bytes(cell, element_bytes)
    if attention_flops(cell) >= HIDDEN * FLOPS_PER_BYTE[device_type] * unique:
        return MIN_SLOTS
    return min(MAX_SLOTS, max(MIN_SLOTS, ceil(CACHES_BETWEEN_READS * cache_bytes / unique) + 1))


def computes(cell: Cell, device_type: str) -> bool:
    """Whether arithmetic and not memory sets the pace, with two bytes an element."""
    return attention_flops(cell) > FLOPS_PER_BYTE[device_type] * kv_bytes(cell, 2)


@dataclass(frozen=True)
class PoolDemand:
    """``token_bytes`` of one layer's K and V; ``needed_tokens`` by the largest cell; ``slots`` by the coldest."""

    page_size: int
    kv_dtype: str
    token_bytes: int
    needed_tokens: int
    slots: int


@dataclass(frozen=True)
class PoolPlan:
    """What is built of a demand. ``pool_tokens`` is a multiple of the page size."""

    page_size: int
    kv_dtype: str
    pool_tokens: int
    slots: int


def plan_pools(demands: Sequence[PoolDemand], server_tokens: int | None, budget_bytes: int) -> tuple[PoolPlan, ...]:
    """Share ``budget_bytes`` evenly: the server's pool size in every slot if it fits, else fewer tokens, else fewer slots.

    ``server_tokens`` None = as many as fit. Never fewer tokens than the cells need, never fewer than two slots.
    Raises `NotEnoughMemory` beyond that.
    """
    return tuple(_plan_pool(demand, server_tokens, budget_bytes // len(demands)) for demand in demands)


def _plan_pool(demand: PoolDemand, server_tokens: int | None, budget_bytes: int) -> PoolPlan:
    page = demand.page_size
    fit = budget_bytes // (demand.slots * demand.token_bytes) - page  # the padding page comes on top
    if fit >= demand.needed_tokens:
        wanted = fit if server_tokens is None else max(server_tokens, demand.needed_tokens)
        return PoolPlan(page, demand.kv_dtype, min(wanted, fit) // page * page, demand.slots)
    slots = budget_bytes // ((demand.needed_tokens + page) * demand.token_bytes)
    if slots < 2:
        raise NotEnoughMemory(
            f"two KV pools of {demand.needed_tokens} tokens need {2 * demand.needed_tokens * demand.token_bytes} bytes, "
            f"{budget_bytes} are allowed; raise measure.memory_fraction or lower the traffic's concurrency"
        )
    return PoolPlan(page, demand.kv_dtype, demand.needed_tokens, slots)
