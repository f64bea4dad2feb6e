"""From traffic to the cells to time, and how much each counts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from backends.cell import Cell, Phase
from backends.latent import attended
from backends.model import LayerKind
from store.plan import Server
from store.scenario import Role, Scenario, WeightedCell
from store.traffic import Traffic
from tuner.traffic.loads import recorded_loads
from tuner.workload.drafts import accepted_length, draft_notes, verifying
from tuner.workload.lengths import mean_tokens
from tuner.workload.loads import Load, decode_loads, longest_request, prefill_loads
from tuner.workload.mixed import mixed_loads, room_beside, running
from tuner.workload.ranks import phase_kind, rank_lengths, rank_traffic, ranks_of
from tuner.workload.reach import largest_reachable, reachable

PER_1000 = 1000.0


@dataclass(frozen=True)
class Workload:
    """``notes`` say in sentences what of the traffic the server cannot reach."""

    cells: tuple[WeightedCell, ...]
    notes: tuple[str, ...]


def cells_for(scenario: Scenario, server: Server, layers: Sequence[LayerKind], page_size: int) -> Workload:
    """The weighted cells of a scenario, as one rank sees them, the same for the same seed. ``layers`` hold heads per rank.

    The shares of each phase that the server's role has and of each layer kind sum to 1; a model with several layer kinds has
    each cell once a kind.
    """
    planned, notes = _loads(scenario, server, page_size)
    loads = tuple(verifying(load, server) for load in planned)
    cells = tuple(
        WeightedCell(cell_of(scenario, server, load, kind, len(layers) > 1), kind.layers, calls(load, scenario, server), load.share)
        for kind in layers
        for load in loads
    )
    drafts = draft_notes(scenario.engine.speculation, server, scenario.engine.mixed_chunk) if any(load.draft for load in loads) else ()
    return Workload(cells, (*notes, *drafts))


def _loads(scenario: Scenario, server: Server, page_size: int) -> tuple[tuple[Load, ...], tuple[str, ...]]:
    if scenario.traffic.recorded is not None:
        return recorded_loads(scenario.traffic.recorded, scenario.traffic.shared_prefix_tokens, server, page_size)
    traffic, phases = rank_traffic(scenario.traffic, ranks_of(scenario.engine)), scenario.engine.role.phases
    decode, notes = _decode(traffic, scenario.measure.seed, server, page_size) if Phase.DECODE in phases else ((), ())
    if mixes(scenario, server) and decode:
        return _mixed(scenario, server, traffic, decode, page_size), notes
    prefill = prefill_loads(traffic, server, scenario.measure.seed, page_size) if Phase.PREFILL in phases else ()
    return (*decode, *prefill), notes


def mixes(scenario: Scenario, server: Server) -> bool:
    """Whether requests decode beside others' prompts: not under drafts (sglang/srt/arg_groups/speculative_hook.py turns it off)."""
    return scenario.engine.mixed_chunk and server.drafting is None and scenario.engine.role is Role.UNIFIED


def _mixed(scenario: Scenario, server: Server, traffic: Traffic, decode: tuple[Load, ...], page_size: int) -> tuple[Load, ...]:
    left = room_beside(running(decode), server)
    prefill = prefill_loads(traffic, left, scenario.measure.seed, page_size)
    groups = ranks_of(scenario.engine).attn_dp
    return mixed_loads(prefill, decode, [groups * calls(load, scenario, server) for load in prefill], server, page_size)


def _decode(traffic: Traffic, seed: int, server: Server, page_size: int) -> tuple[tuple[Load, ...], tuple[str, ...]]:
    wanted = decode_loads(traffic, server, seed)
    kept, notes = reachable(wanted, server, page_size)
    if kept:
        return kept, notes
    load = largest_reachable(traffic, server, seed, page_size, min(load.batch for load in wanted))
    return (load,), (*notes, f"decode is timed at batch {load.batch} alone, the largest that fits")


def calls(load: Load, scenario: Scenario, server: Server) -> float:
    """Steps per 1000 output tokens: a decode step makes one token a request, a verify step as many as are accepted, a prefill step
    works off ``new_lens`` of the prompt tokens that each output token brings along and no cache holds, and groups of ranks with
    requests of their own step together."""
    groups = ranks_of(scenario.engine).attn_dp
    if load.steps_per_1000 is not None:
        return load.steps_per_1000 / groups
    per_1000 = PER_1000 * load.share / groups
    if load.generates:
        return per_1000 / (load.batch * accepted_length(scenario.engine.speculation, server))
    traffic, limit = scenario.traffic, longest_request(server)
    computed = (1 - traffic.cached_share) * mean_tokens(traffic.prompt, limit) / mean_tokens(traffic.output, limit)
    return per_1000 * computed / sum(load.new_lens)


def cell_of(scenario: Scenario, server: Server, load: Load, kind: LayerKind, several: bool) -> Cell:
    """``kind`` holds heads per rank; the cell has the keys that one rank holds of each request."""
    name, ranks = f"{load.name}-{kind.name}" if several else load.name, ranks_of(scenario.engine)
    split = Phase.DECODE if load.generates else Phase.PREFILL  # how ranks share a context
    return Cell(
        name=name,
        phase=load.phase,
        layer=attended(phase_kind(kind, ranks, split), scenario.model.architecture, load.generates),
        context_lens=rank_lengths(load.context_lens, ranks, split),
        new_lens=load.new_lens,
        prompt_lens=rank_lengths(load.prompt_lens, ranks, split),
        padded_batch=padded_batch(load.batch, server.captured_batches) if load.generates else load.batch,
        dtype=scenario.model.dtype,
        seed=Random(f"{scenario.measure.seed}/{name}").getrandbits(31),
        page_layout=scenario.measure.page_layout,
        shared_prefix=max(rank_lengths((load.shared_prefix,), ranks, split)),
        draft=load.draft,
    )


def padded_batch(batch: int, captured: tuple[int, ...]) -> int:
    """The batch the engine launches: the next captured size, or the batch itself above the largest (served eagerly)."""
    index = bisect_left(captured, batch)
    return captured[index] if index < len(captured) else batch
