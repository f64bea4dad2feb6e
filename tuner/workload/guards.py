"""Cells that traffic does not visit: the fullest batch and the longest request that the engine accepts.

They weigh nothing in the objective, and no pick may lose on them. Made where the engine captures decode graphs and the size
of its KV pool is known. Without graphs, as on a CPU, the engine names no largest batch, and filling its whole memory with
requests would take minutes a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from backends.arm import Arm
from backends.cell import Cell, Phase
from backends.gpu import Gpu
from backends.kv.layout import pages_needed
from backends.stand import POOL_SHARE
from store.plan import Server
from store.scenario import Scenario, WeightedCell
from tuner.budgeting.estimate import coldest_slots
from tuner.engines.lookup import rules_of
from tuner.workload.cells import Workload, cell_of
from tuner.workload.drafts import verifying
from tuner.workload.kv_size import element_bytes
from tuner.workload.loads import Load

FREE = 0.95  # of the memory, at least, is what a fresh process finds on an idle GPU
DECODED = 4  # a quarter of a context was decoded, the rest came in as its prompt


def guard_cells(scenario: Scenario, server: Server, traffic: Sequence[WeightedCell], arms: Sequence[Arm]) -> Workload:
    """Guards beside the cells of ``traffic``, once a layer kind; whole pages of every arm, and small enough that the cells of
    traffic keep as many cold pools as they need. One that a traffic cell covers is left out."""
    if not server.captured_batches or server.pool_tokens is None or not arms:
        return Workload((), ())
    page = max(arm.page_size for arm in arms)
    tokens = min(server.pool_tokens, affordable_tokens(scenario, traffic, arms))
    wanted, loads = guard_loads(server, server.pool_tokens, page), guard_loads(server, tokens, page)
    new = [load for load in loads if not any(covers(weighted, load) for weighted in traffic)]
    kinds = rules_of(scenario).rank_layers(scenario)
    cells = [WeightedCell(cell_of(scenario, server, load, kind, len(kinds) > 1), kind.layers, 0.0, 0.0) for kind in kinds for load in new]
    cut = f"guards hold at most {tokens} of the {server.pool_tokens} tokens of the KV pool: measure.memory_fraction allows no more"
    return Workload(tuple(cells), () if loads == wanted else (cut,))


def affordable_tokens(scenario: Scenario, traffic: Iterable[WeightedCell], arms: Iterable[Arm]) -> int:
    """Tokens a pool may have so that there is room for one of each page size and each geometry of cached layers (`backends.stand`), in as
    many layers as the coldest traffic cell in it rotates over; never fewer than traffic itself puts into one."""
    gpu, cells = scenario.gpu, [weighted.cell for weighted in traffic]
    keys, shapes = {(arm.page_size, arm.kv_dtype) for arm in arms}, {cell.layer.cached for cell in cells}
    share = FREE * POOL_SHARE * scenario.measure.memory_fraction * (gpu.memory_bytes or 0) / (len(keys) * len(shapes))
    alike = [[cell for cell in cells if cell.layer.cached == shape] for shape in shapes]
    token_bytes = max(_token_bytes(gpu, mine, element_bytes(kv_dtype)) for mine in alike for _, kv_dtype in keys)
    filled = max(pages_needed(cell, page_size) * page_size for cell in cells for page_size, _ in keys)
    return max(int(share / token_bytes), filled)


def _token_bytes(gpu: Gpu, cells: Sequence[Cell], element: float) -> float:
    """Of one token of a pool of ``cells``, which are cached alike, in all of its layers."""
    return coldest_slots(gpu, cells, element) * cells[0].layer.cached_width * element


def guard_loads(server: Server, tokens: int, page: int) -> tuple[Load, ...]:
    """The largest captured batch with ``tokens`` shared evenly, and one request as long as the server takes it.

    Each context is a whole number of pages of ``page`` tokens and stays a page below its bound, so that smaller pages fit too.
    """

    drafted = server.drafting.tokens - 1 if server.drafting else 0

    def context(batch: int) -> int:
        return ((min(server.context_length, tokens // batch) - drafted) // page - 1) * page

    most = server.max_running_requests or inf
    batches = [batch for batch in server.captured_batches if batch <= most and context(batch) > 0]
    names = {max(batches): "decode-fullest", 1: "decode-longest"} if batches else {}
    return tuple(verifying(_load(name, batch, context(batch)), server) for batch, name in names.items())


def covers(weighted: WeightedCell, load: Load) -> bool:
    """Whether a cell of traffic is a step that generates and is at least as large in every respect."""
    mine, guard = weighted.cell.context_lens, load.context_lens
    larger = len(mine) >= len(guard) and max(mine) >= max(guard) and sum(mine) >= sum(guard)
    return weighted.cell.generates and larger


def _load(name: str, batch: int, context: int) -> Load:
    return Load(name, Phase.DECODE, (context,) * batch, (1,) * batch, (context - context // DECODED,) * batch, 0.0)
