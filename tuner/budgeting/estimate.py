"""What a run would take, before anything was measured: a roofline from the datasheet and the timing settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.arm import Arm
from backends.cell import Cell, attention_flops, kv_bytes
from backends.gpu import Gpu
from backends.kv.rotation import slots_wanted
from backends.spec import TimingSpec
from backends.timing.pace import VISIT_S
from store.plan import Estimate, Server
from store.scenario import Exclusion, Scenario, WeightedCell
from tuner.arithmetic.looks import CONFIRMING, REVISITS
from tuner.engines.lookup import rules_of
from tuner.limits import serves
from tuner.workload.kv_size import element_bytes

# A fresh process: imports, device start, pools, captures. Seen: about 7 s on an H200, 3 s for torch alone on a CPU.
START_S = {"cuda": 10.0, "cpu": 4.0}
VISITS_A_BLOCK = 2
PROBE_VISITS = 12  # a probe takes as long as so many: its visits, its checks, the other ways of timing a call
# Judgement, where no sheet gives rates: two cores of a server CPU.
ASSUMED_BANDWIDTH, ASSUMED_FLOPS = 20e9, 50e9


Timed = Sequence[tuple[Arm, Cell]]


def estimate(
    scenario: Scenario, server: Server, arms: Sequence[Arm], cells: Sequence[WeightedCell], exclusions: Iterable[Exclusion]
) -> Estimate:
    """Labelled as what it is; kernel builds and waiting for a lock come on top. No arm to time, no seconds and no bytes."""
    timed = timed_cells(arms, cells, exclusions)
    seconds = run_seconds(scenario, arms, timed) if timed else None
    memory = memory_bytes(scenario, server, [weighted.cell for weighted in cells]) if timed else None
    return Estimate(seconds, memory, basis(scenario.gpu))


def timed_cells(arms: Iterable[Arm], cells: Sequence[WeightedCell], exclusions: Iterable[Exclusion]) -> Timed:
    """Each arm with each cell of the phases it serves."""
    barred = tuple(exclusions)
    return [(arm, weighted.cell) for arm in arms for weighted in cells if serves(arm, weighted.cell.phase, barred)]


def basis(gpu: Gpu) -> str:
    known = gpu.bandwidth_bytes_per_s is not None and gpu.peak_flops is not None
    assumed = f"assumed rates ({ASSUMED_BANDWIDTH / 1e9:.0f} GB/s, {ASSUMED_FLOPS / 1e9:.0f} GFLOP/s: none of {gpu.name} are known)"
    return f"a roofline at {f'the datasheet rates of {gpu.name}' if known else assumed}; kernel builds come on top"


def call_s(cell: Cell, gpu: Gpu, kv_dtype: str) -> float:
    """The least one call can take: unique KV at full bandwidth, or live pairs at peak arithmetic."""
    reading = kv_bytes(cell, element_bytes(kv_dtype)) / (gpu.bandwidth_bytes_per_s or ASSUMED_BANDWIDTH)
    return max(reading, attention_flops(cell) / (gpu.peak_flops or ASSUMED_FLOPS))


def run_seconds(scenario: Scenario, arms: Sequence[Arm], timed: Timed) -> float:
    """At the most: a probe process an arm, ``processes`` with all of them, though arms may leave and the race end before, and the
    processes after the choice and for other conditions, with two of them."""
    probes = sum(probe_seconds(scenario, [(arm, cell) for arm, cell in timed if arm == probed]) for probed in arms)
    after = CONFIRMING + (REVISITS if scenario.measure.sensitivity else 0)
    again = after * round_seconds(scenario, [(arm, cell) for arm, cell in timed if arm in arms[:2]]) if len(arms) > 1 else 0.0
    return probes + scenario.measure.processes * round_seconds(scenario, timed) + again


def probe_seconds(scenario: Scenario, timed: Timed) -> float:
    """One process with one arm."""
    return _start_seconds(scenario, timed) + PROBE_VISITS * _visit_seconds(scenario, timed)


def round_seconds(scenario: Scenario, timed: Timed) -> float:
    """One process with all arms."""
    return _start_seconds(scenario, timed) + VISITS_A_BLOCK * scenario.measure.timing.blocks * _visit_seconds(scenario, timed)


def _start_seconds(scenario: Scenario, timed: Timed) -> float:
    cells = len({cell.name for _, cell in timed})
    return START_S.get(scenario.gpu.kind, START_S["cuda"]) + scenario.measure.timing.warmup_s * cells


def _visit_seconds(scenario: Scenario, timed: Timed) -> float:
    """One visit of every arm to every cell."""
    return sum(visit_s(scenario.measure.timing, call_s(cell, scenario.gpu, arm.kv_dtype)) for arm, cell in timed)


def visit_s(timing: TimingSpec, call: float) -> float:
    """Discarded and kept replays; one lasts ``replay_ms``, or a single call where that is longer."""
    replay = max(timing.replay_ms / 1000, call)
    return max(replay, min(VISIT_S, max(timing.discard_ms / 1000, replay) + timing.replays * replay))


def memory_bytes(scenario: Scenario, server: Server, cells: Sequence[Cell]) -> int | None:
    """Pools of the server's size, as many layers as the coldest cell rotates over, within what a run may use."""
    gpu, measure = scenario.gpu, scenario.measure
    if gpu.memory_bytes is None:
        return None
    element = element_bytes(rules_of(scenario).resolved_kv_dtype(scenario.model, scenario.engine.kv_cache_dtype))
    tokens = server.pool_tokens or max(sum(cell.context_lens) for cell in cells)
    pools = coldest_slots(gpu, cells, element) * tokens * server.kv_bytes_per_token // scenario.model.attention_layers
    return min(pools, int(gpu.memory_bytes * measure.memory_fraction))


def coldest_slots(gpu: Gpu, cells: Iterable[Cell], element: float) -> int:
    """Layers of KV that the cell with the fewest keys rotates over."""
    return max(slots_wanted(cell, gpu.l2_bytes or 0, element, gpu.kind) for cell in cells)
