"""vLLM's sizes that follow from the memory of a GPU: tokens of a step, captured batches, KV pool."""

from __future__ import annotations

from backends.gpu import Gpu
from store.plan import Server
from store.scenario import Role, Scenario
from tuner.engines.vllm.chunks import chunked_layers
from tuner.engines.vllm.rules import resolved_kv_dtype
from tuner.workload.kv_size import bytes_per_token, element_bytes, pool_tokens
from tuner.workload.ranks import ranks_of
from tuner.workload.weights import weight_bytes

GIB = 1 << 30
GPU_MEMORY_UTILIZATION = 0.92  # vllm/config/cache.py, CacheConfig
GRAPH_DEVICES = ("cuda", "rocm")
LARGEST_GRAPH, LARGEST_GRAPH_SM10X = 512, 1024  # vllm/config/vllm.py, _set_cudagraph_sizes


def step_sizes(gpu: Gpu, ranks: int) -> tuple[int, int]:
    """Tokens of one step and requests of one batch, where nobody sets them, of an API server.

    Source: vllm/engine/arg_utils.py, get_batch_defaults.
    """
    if gpu.kind == "cpu":
        return 2048 * ranks, 128 * ranks
    memory = gpu.memory_bytes or 0
    if memory >= 160 * GIB:
        return 16384, 1024
    large = memory >= 70 * GIB and "a100" not in gpu.name.lower() and gpu.sm != 121
    return (8192, 1024) if large else (2048, 256)


def captured_batches(gpu: Gpu, tokens: int, requests: int) -> tuple[int, ...]:
    """Decode batch sizes that get a CUDA graph, ascending; without speculative decoding.

    Source: vllm/config/vllm.py, _set_cudagraph_sizes.
    """
    largest = LARGEST_GRAPH_SM10X if gpu.sm is not None and gpu.sm // 10 == 10 else LARGEST_GRAPH
    most = min(2 * requests, largest, tokens)
    sizes = {*(1, 2, 4), *range(8, min(most + 1, 256), 8), *range(256, most + 1, 16)}
    return tuple(sorted({size for size in sizes if size <= most} | ({requests} if requests <= most else set())))


def server_for(scenario: Scenario, rules: str, page_size: int) -> Server:
    """Sizes of the server, of one group of ranks that serves requests together. vLLM measures what a step takes before it sizes its
    pool; here weights alone are taken off, so the pool is an upper bound."""
    model, gpu, engine, ranks = scenario.model, scenario.gpu, scenario.engine, ranks_of(scenario.engine)
    tokens, requests = step_sizes(gpu, ranks.tensor)
    kv_dtype = resolved_kv_dtype(model, engine.kv_cache_dtype)
    weights, slot = weight_bytes(model, ranks), bytes_per_token(model, element_bytes(kv_dtype), ranks)
    fraction = None if gpu.kind == "cpu" else engine.mem_fraction_static or GPU_MEMORY_UTILIZATION
    static = None if gpu.memory_bytes is None or fraction is None else int(gpu.memory_bytes * fraction)
    graphs = gpu.kind in GRAPH_DEVICES and engine.role is not Role.PREFILL and not chunked_layers(model)
    return Server(
        context_length=engine.context_length or model.context_length,
        chunked_prefill_size=tokens,
        captured_batches=captured_batches(gpu, tokens, requests) if graphs else (),
        max_running_requests=requests,
        mem_fraction_static=fraction,
        weight_bytes=weights,
        kv_bytes_per_token=slot,
        pool_tokens=pool_tokens(static, weights, slot, page_size),
        static_bytes=static,
    )
