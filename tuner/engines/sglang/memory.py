"""SGLang's sizes that follow from the memory of a GPU: prefill chunk, captured batches, KV pool."""

from __future__ import annotations

from dataclasses import dataclass

from backends.gpu import Gpu
from backends.model import Attention, Model
from store.plan import Server
from store.scenario import Engine, Role, Scenario
from tuner.engines.sglang.platforms import DECODE_GRAPHS, PREFILL_GRAPHS
from tuner.engines.sglang.rules import MAX_RUNNING_WITH_DRAFTS, resolved_kv_dtype
from tuner.engines.sglang.windows import window_pool_share
from tuner.workload.kv_size import bytes_per_token, element_bytes, pool_tokens
from tuner.workload.ranks import Ranks, ranks_of, world_size
from tuner.workload.weights import weight_bytes

MIB = 1 << 20


@dataclass(frozen=True)
class Tier:
    """GPUs below ``gib``: tokens of a prefill chunk, largest captured decode batch below and from 4 ranks on."""

    gib: float
    chunk: int
    batch: int
    batch_tp4: int


# sglang/srt/arg_groups/memory_hook.py (0.5.22) and sglang/srt/server_args.py (0.5.16), handle_gpu_memory_settings
_LARGE_TIERS = (Tier(60, 4096, 32, 160), Tier(160, 8192, 256, 512), Tier(float("inf"), 16384, 512, 512))
TIERS = {
    "0.5.16": (Tier(20, 2048, 8, 8), Tier(35, 2048, 24, 80), *_LARGE_TIERS),
    **dict.fromkeys(("0.5.22", "0.5.23"), (Tier(20, 2048, 8, 8), Tier(35, 4096, 48, 160), *_LARGE_TIERS)),
}
# Up to 32 and up to 64 GiB (sglang/srt/hardware_backend/npu/utils.py, set_default_server_args); above, the same as elsewhere.
NPU_TIERS = (Tier(33, 4096, 16, 64), Tier(65, 8192, 64, 256))
UNKNOWN_MEMORY = Tier(0, 4096, 160, 160)
XPU_HEADROOM_MIB = 2048  # oneDNN's scratch; 0.5.22
# What a GPU has not free when a server has started on it and its weights have not come: the context, and what the driver keeps. By
# "Load weight begin. avail mem" of logs: 1.31 GiB of an H200's 140.4, 0.84 to 1.2 of an H100's 79.6, 0.6 to 0.9 of 22.5.
CONTEXT_MIB, DRIVER_SHARE = 512, 0.006
WITH_CONTEXT = ("cuda", "rocm", "npu")


def tier_for(memory_bytes: int | None, rules: str, kind: str = "cuda") -> Tier:
    if memory_bytes is None:
        return UNKNOWN_MEMORY
    tiers = (*NPU_TIERS, *TIERS[rules]) if kind == "npu" else TIERS[rules]
    return next(tier for tier in tiers if memory_bytes < tier.gib * 1024 * MIB)


def chunked_prefill_size(memory_bytes: int | None, rules: str) -> int:
    """Tokens of one prefill chunk where nobody sets it."""
    return tier_for(memory_bytes, rules).chunk


def captured_batches(max_batch: int, speculative: bool) -> tuple[int, ...]:
    """Decode batch sizes that get a CUDA graph, ascending.

    Source: sglang/srt/arg_groups/cuda_graph_hook.py, generate_decode_cuda_graph_batch_sizes (0.5.16 has the same list).
    """
    plain = [1, 2, 4, 8, 12, *range(16, 257, 8), *range(272, 512, 16), *range(512, max_batch + 1, 32)]
    drafts = [*range(1, 9), *range(10, 33, 2), *range(40, 65, 4), *range(72, 257, 8), *range(272, max_batch + 1, 16)]
    return tuple(sorted({size for size in (drafts if speculative else plain) if size <= max_batch} | {max_batch}))


def server_for(scenario: Scenario, rules: str, page_size: int) -> Server:
    """Sizes of the server, of one group of ranks that serves requests together. Weights are taken at the width the checkpoint
    stores them in, undivided by pipeline stages; a pool that comes out at or below nothing is unknown, not zero."""
    model, gpu, engine, ranks = scenario.model, scenario.gpu, scenario.engine, ranks_of(scenario.engine)
    tier = tier_for(gpu.memory_bytes, rules, gpu.kind)
    batch = largest_batch(engine, tier)
    drafts = engine.speculation.algorithm is not None
    sizes = tuple(sorted(set(engine.cuda_graph_bs))) or captured_batches(batch, drafts)
    fraction = engine.mem_fraction_static or mem_fraction(gpu, tier.chunk, batch, engine, model.attention)
    weights = weight_bytes(model, ranks)
    kv_dtype = resolved_kv_dtype(model, engine.kv_cache_dtype)
    slot = kv_bytes_per_token(model, kv_dtype, ranks, window_pool_share(model, engine))
    static = static_bytes(gpu, fraction)
    return Server(
        context_length=engine.context_length or model.context_length,
        chunked_prefill_size=max(1, tier.chunk // ranks.attn_dp),
        captured_batches=sizes if gpu.kind in DECODE_GRAPHS and captures_decode(engine) else (),
        max_running_requests=max(1, MAX_RUNNING_WITH_DRAFTS // ranks.attn_dp) if drafts else None,
        mem_fraction_static=fraction,
        weight_bytes=weights,
        kv_bytes_per_token=kv_bytes_per_token(model, kv_dtype, ranks),
        pool_tokens=pool_tokens(static, weights, slot, page_size),
        static_bytes=static,
    )


def largest_batch(engine: Engine, tier: Tier) -> int:
    """The largest decode batch that a graph is made for, where graphs are made: a list stands before a bound."""
    default = tier.batch if engine.tensor_parallel < 4 else tier.batch_tp4
    return max(engine.cuda_graph_bs, default=engine.cuda_graph_max_bs or default)


def captures_decode(engine: Engine) -> bool:
    return engine.role is not Role.PREFILL and not engine.disable_cuda_graph


def mem_fraction(gpu: Gpu, chunk: int, max_batch: int, engine: Engine, attention: Attention) -> float | None:
    """`--mem-fraction-static` where nobody sets it, None where the memory is unknown. ``chunk`` is the whole server's.

    Source: sglang/srt/arg_groups/memory_hook.py, handle_gpu_memory_settings and reserve_for_graph_mb, in MiB.
    """
    if gpu.memory_bytes is None:
        return None
    memory = gpu.memory_bytes / MIB
    drafted = max_batch * (engine.speculation.draft_tokens or 1)
    reserved = 512 + 1.5 * max(drafted if engine.role is Role.DECODE else chunk, 2048) + 128 * world_size(engine)
    if gpu.kind != "xpu":  # reserved also where the default backend then serves without graphs
        reserved += _decode_graphs_mib(max_batch, engine)
    if gpu.kind in PREFILL_GRAPHS:
        reserved += _prefill_graphs_mib(chunk, engine, attention)
    if memory > 60 * 1024:
        reserved = max(reserved, 10 * 1024)
    if gpu.kind == "xpu":
        reserved += XPU_HEADROOM_MIB
    return round((memory - reserved) / memory, 3)


def static_bytes(gpu: Gpu, fraction: float | None) -> int | None:
    """What weights and KV pool may take: the fraction of what is free before the weights come, not of all. What ranks need to talk to
    each other is not taken off: 0.1 GB to 2 GB.

    Source: sglang/srt/mem_cache/kv_cache_configurator.py, _profile_available_bytes: free then - before x (1 - fraction).
    """
    if gpu.memory_bytes is None or fraction is None:
        return None
    taken = CONTEXT_MIB * MIB + DRIVER_SHARE * gpu.memory_bytes if gpu.kind in WITH_CONTEXT else 0
    return int((gpu.memory_bytes - taken) * fraction)


def _decode_graphs_mib(max_batch: int, engine: Engine) -> float:
    if engine.role is Role.PREFILL:
        return 0.0
    padding = 0.0 if engine.attn_dp_size == 1 else 4.5 if max_batch > 300 else 3.0  # also where nothing is captured
    return max_batch * (2 * captures_decode(engine) + padding * engine.attn_dp_size)


def _prefill_graphs_mib(chunk: int, engine: Engine, attention: Attention) -> float:
    if engine.role is Role.DECODE or engine.disable_cuda_graph:
        return 0.0
    return 1536.0 if attention is Attention.MLA else 8.0 * prefill_graphs(chunk)


def prefill_graphs(max_tokens: int) -> int:
    """How many token counts get a prefill graph (same file as `captured_batches`)."""
    steps = ((4, 33, 4), (48, 257, 16), (288, 513, 32), (576, 1025, 64), (1280, 4097, 256), (4608, max_tokens + 1, 512))
    return sum(size <= max_tokens for start, stop, step in steps for size in range(start, stop, step))


def kv_bytes_per_token(model: Model, kv_dtype: str, ranks: Ranks, window_share: float = 1.0) -> int:
    """``window_share``: see `window_pool_share`."""
    return bytes_per_token(model, element_bytes(kv_dtype), ranks, window_share)
