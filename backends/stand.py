"""What all arms of one process stand on: the device and its measured limits, the server's settings, the KV pools."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backends.arm import Arm
from backends.bench import Bench, Plausibility
from backends.cell import Cell
from backends.driver import CellData, Driver, KvPool, Refused, Stage
from backends.dtypes import element_bytes
from backends.kinds import DriverOfKinds
from backends.kv.layout import pages_needed
from backends.kv.rotation import PoolDemand, plan_pools, slots_wanted
from backends.measurable import unmeasurable, unverifiable
from backends.paged.combined import combine

if TYPE_CHECKING:
    from backends.spec import StageSpec

POOL_SHARE = 0.85  # of the budget; the rest is for workspaces, graphs and the reference
CPU_POOL_BYTES = 1 << 30  # takes a second to fill with noise, and more is not colder
PoolKey = tuple[int, str]
Shape = tuple[int, int, int]  # `LayerKind.cached`


@dataclass(frozen=True)
class Stand:
    """A pool for each key and each geometry that the cells' layers are cached in. ``wanted`` slots per cell name and pool key; the
    pool may have fewer where memory is short."""

    bench: Bench
    stage: Stage
    limits: Plausibility
    pools: dict[tuple[PoolKey, Shape], KvPool]
    wanted: dict[tuple[str, PoolKey], int]

    def pool(self, cell: Cell, arm: Arm) -> KvPool:
        return self.pools[pool_key(arm), cell.layer.cached]

    def slots(self, cell: Cell, arm: Arm) -> int:
        """Pools to rotate over."""
        return min(self.wanted[cell.name, pool_key(arm)], self.pool(cell, arm).slots)

    def warm_risk(self, cell: Cell, arm: Arm) -> bool:
        """Whether memory allowed fewer pools than it takes to find the KV cold."""
        return self.slots(cell, arm) < self.wanted[cell.name, pool_key(arm)]

    def require_plausible(self, cell: Cell, arm: Arm, sample_us: Sequence[float]) -> None:
        """Raise `Implausible` for a sample that is faster than this device can be."""
        self.limits.require_plausible(cell, element_bytes(arm.kv_dtype), sample_us)

    def lay_out(self, cell: Cell, arm: Arm) -> CellData:
        return self.bench.lay_out(cell, self.pool(cell, arm), self.stage.context_length)

    def open_driver(self, arm: Arm) -> Driver:
        """One driver for all geometries. What of it was opened is closed again when the rest cannot be."""
        pools = [pool for (key, _), pool in self.pools.items() if key == pool_key(arm)]
        if len(pools) == 1:
            return self.bench.open_driver(arm, self.stage, pools[0])
        with ExitStack() as opened:
            drivers = []
            for pool in pools:
                drivers.append((pool, self.bench.open_driver(arm, self.stage, pool)))
                opened.callback(drivers[-1][1].close)
            opened.pop_all()
        return DriverOfKinds(drivers)


def pool_key(arm: Arm) -> PoolKey:
    """Arms of one page size and KV dtype share their pools, so that placement cannot tell them apart."""
    return arm.page_size, arm.kv_dtype


def open_stand(bench: Bench, spec: StageSpec, arms: Sequence[Arm], cells: Sequence[Cell], seed: int) -> Stand:
    """Measure the device's limits, then build the pools within ``spec.memory_fraction`` of what is free, or ``spec.budget_bytes``.

    Raises RuntimeError without the device, `Refused` for what no driver is measured on, `NotEnoughMemory`.
    """
    device = bench.open()
    _refuse(spec, arms)
    budget = spec.budget_bytes or int(spec.memory_fraction * bench.free_bytes())
    bench.limit_memory(budget)
    limits = bench.limits(cells[0].dtype)
    bench.release()
    wanted = _slots(arms, cells, bench)
    return Stand(bench, _stage(spec, cells, device), limits, _pools(bench, spec, cells, wanted, budget, seed), wanted)


def _pools(
    bench: Bench, spec: StageSpec, cells: Sequence[Cell], wanted: dict[tuple[str, PoolKey], int], budget: int, seed: int
) -> dict[tuple[PoolKey, Shape], KvPool]:
    kinds = {cell.layer.cached: cell.layer for cell in cells}
    names = [(key, shape) for key in dict.fromkeys(key for _, key in wanted) for shape in kinds]
    demands = [_demand(key, [cell for cell in cells if cell.layer.cached == shape], wanted) for key, shape in names]
    for_pools, server_tokens = int(POOL_SHARE * budget), spec.pool_tokens
    if bench.type == "cpu":
        for_pools = min(for_pools, CPU_POOL_BYTES)
        server_tokens = server_tokens or max(demand.needed_tokens for demand in demands)
    plans = plan_pools(demands, server_tokens, for_pools)
    built = {name: _placed(bench.build_pool(plan, kinds[name[1]], seed), spec) for name, plan in zip(names, plans)}
    return {name: _scaled(pool, spec, name[0][1]) for name, pool in built.items()}


def _placed(pool: KvPool, spec: StageSpec) -> KvPool:
    return combine(pool) if spec.combined and spec.simulation is None else pool


def _scaled(pool: KvPool, spec: StageSpec, kv_dtype: str) -> KvPool:
    """A quantized checkpoint's layers have scales for an 8-bit cache, of 1 where it brings none
    (sglang/srt/layers/quantization/kv_cache.py); others have none, and the engine then divides nothing by them."""
    return replace(pool, scales=(1.0, 1.0)) if element_bytes(kv_dtype) == 1 and spec.model.weight_bits is not None else pool


def _refuse(spec: StageSpec, arms: Sequence[Arm]) -> None:
    drafts = () if spec.drafting is None else unverifiable(spec.model, spec.drafting.algorithm, spec.drafting.topk)
    for reason in (*unmeasurable(spec.model, (arm.kv_dtype for arm in arms)), *drafts):
        raise Refused(f"model {spec.model.name} with {reason.asked} cannot be measured; attnpin takes {reason.allowed}; {reason.remedy}")


def _slots(arms: Sequence[Arm], cells: Sequence[Cell], bench: Bench) -> dict[tuple[str, PoolKey], int]:
    cache = bench.cache_bytes()
    keys = dict.fromkeys(map(pool_key, arms))
    return {(cell.name, key): slots_wanted(cell, cache, element_bytes(key[1]), bench.type) for cell in cells for key in keys}


def _demand(key: PoolKey, cells: Sequence[Cell], wanted: dict[tuple[str, PoolKey], int]) -> PoolDemand:
    page_size, kv_dtype = key
    return PoolDemand(
        page_size=page_size,
        kv_dtype=kv_dtype,
        token_bytes=cells[0].layer.cached_width * element_bytes(kv_dtype),
        needed_tokens=max(pages_needed(cell, page_size) for cell in cells) * page_size,
        slots=max(wanted[cell.name, key] for cell in cells),
    )


def _stage(spec: StageSpec, cells: Sequence[Cell], device: Any) -> Stage:
    return Stage(
        device=device,
        model=spec.model,
        attention_tp=spec.attention_tp,
        context_length=spec.context_length,
        chunked_prefill_size=spec.chunked_prefill_size,
        max_batch=max(cell.padded_batch for cell in cells),
        max_new_tokens=max(cell.new_tokens for cell in cells),
        graph_max_batch=spec.graph_max_batch,
        deterministic=spec.deterministic,
        drafting=spec.drafting,
    )
