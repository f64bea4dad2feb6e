"""SGLang's sizes that follow from the memory of a GPU: prefill chunk, captured batches, KV pool."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from backends.gpu import Gpu
from backends.model import Attention, Model, per_rank
from store.plan import Server
from store.scenario import Scenario
from tuner.engines.sglang_rules import MAX_RUNNING_WITH_DRAFTS, resolved_kv_dtype

MIB = 1 << 20
ELEMENT_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "float8_e4m3fn": 1.0, "float8_e5m2": 1.0}
NARROW_BYTES = {"mxfp8": 1.0 + 1 / 32, "nvfp4": 0.5 + 1 / 16, "fp4_mx_block16": 0.5 + 1 / 16}  # with their block scales


@dataclass(frozen=True)
class Tier:
    """GPUs below ``gib``: tokens of a prefill chunk, largest captured decode batch below and from 4 ranks on."""

    gib: float
    chunk: int
    batch: int
    batch_tp4: int


# sglang/srt/arg_groups/memory_hook.py (0.5.22) and sglang/srt/server_args.py (0.5.16), handle_gpu_memory_settings
TIERS = {
    "0.5.16": (
        Tier(20, 2048, 8, 8),
        Tier(35, 2048, 24, 80),
        Tier(60, 4096, 32, 160),
        Tier(160, 8192, 256, 512),
        Tier(float("inf"), 16384, 512, 512),
    ),
    "0.5.22": (
        Tier(20, 2048, 8, 8),
        Tier(35, 4096, 48, 160),
        Tier(60, 4096, 32, 160),
        Tier(160, 8192, 256, 512),
        Tier(float("inf"), 16384, 512, 512),
    ),
}
UNKNOWN_MEMORY = Tier(0, 4096, 160, 160)


def tier_for(memory_bytes: int | None, rules: str) -> Tier:
    if memory_bytes is None:
        return UNKNOWN_MEMORY
    return next(tier for tier in TIERS[rules] if memory_bytes < tier.gib * 1024 * MIB)


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


def padded_batch(batch: int, captured: tuple[int, ...]) -> int:
    """The batch the engine launches: the next captured size, or the batch itself above the largest (served eagerly)."""
    index = bisect_left(captured, batch)
    return captured[index] if index < len(captured) else batch


def server_for(scenario: Scenario, rules: str, page_size: int) -> Server:
    """The server this scenario would start, as far as sizes go. Weights are taken at the model's dtype, undivided by
    pipeline stages; a pool that comes out at or below nothing is unknown, not zero."""
    model, gpu, engine = scenario.model, scenario.gpu, scenario.engine
    tier = tier_for(gpu.memory_bytes, rules)
    batch = tier.batch if engine.tensor_parallel < 4 else tier.batch_tp4
    drafts = engine.speculation.algorithm is not None
    fraction = engine.mem_fraction_static or mem_fraction(gpu, tier.chunk, batch, engine.tensor_parallel, model.attention)
    weights = round(model.params_total * ELEMENT_BYTES[model.dtype] / engine.tensor_parallel)
    token = kv_bytes_per_token(model, resolved_kv_dtype(model, engine.kv_cache_dtype), engine.tensor_parallel)
    return Server(
        context_length=engine.context_length or model.context_length,
        chunked_prefill_size=tier.chunk,
        captured_batches=captured_batches(batch, drafts) if gpu.kind == "cuda" else (),
        max_running_requests=MAX_RUNNING_WITH_DRAFTS if drafts else None,
        mem_fraction_static=fraction,
        weight_bytes=weights,
        kv_bytes_per_token=token,
        pool_tokens=pool_tokens(gpu.memory_bytes, fraction, weights, token, page_size),
    )


def mem_fraction(gpu: Gpu, chunk: int, max_batch: int, tensor_parallel: int, attention: Attention) -> float | None:
    """`--mem-fraction-static` where nobody sets it, None where the memory is unknown.

    Source: sglang/srt/arg_groups/memory_hook.py, handle_gpu_memory_settings and reserve_for_graph_mb, in MiB.
    """
    if gpu.memory_bytes is None:
        return None
    memory = gpu.memory_bytes / MIB
    reserved = 512 + 1.5 * max(chunk, 2048) + 128 * tensor_parallel
    if gpu.kind == "cuda":
        reserved += 2 * max_batch + (1536 if attention is Attention.MLA else 8 * prefill_graphs(chunk))
    if memory > 60 * 1024:
        reserved = max(reserved, 10 * 1024)
    return round((memory - reserved) / memory, 3)


def prefill_graphs(max_tokens: int) -> int:
    """How many token counts get a prefill graph (same file as `captured_batches`)."""
    steps = ((4, 33, 4), (48, 257, 16), (288, 513, 32), (576, 1025, 64), (1280, 4097, 256), (4608, max_tokens + 1, 512))
    return sum(size <= max_tokens for start, stop, step in steps for size in range(start, stop, step))


def kv_bytes_per_token(model: Model, kv_dtype: str, tensor_parallel: int) -> int:
    """Bytes of one token in all layers, per rank. MLA stores K alone: V is part of it."""
    element = ELEMENT_BYTES.get(kv_dtype) or NARROW_BYTES[kv_dtype]
    kinds = [per_rank(kind, tensor_parallel) for kind in model.layers]
    widths = [kind.head_dim + (0 if model.attention is Attention.MLA else kind.value_head_dim) for kind in kinds]
    return round(element * sum(kind.layers * kind.kv_heads * width for kind, width in zip(kinds, widths, strict=True)))


def pool_tokens(memory_bytes: int | None, fraction: float | None, weights: int, token: int, page_size: int) -> int | None:
    """Tokens the KV pool holds, whole pages; None where memory is unknown or the weights alone fill it."""
    if memory_bytes is None or fraction is None:
        return None
    pages = int((memory_bytes * fraction - weights) / token) // page_size
    return pages * page_size if pages > 0 else None
