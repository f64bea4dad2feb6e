"""How small and how large a number may be, and which of two is the larger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf

from tuner.sanity.tree import Tree, at

Bound = tuple[str, Callable[[float], bool]]

FEWEST_IN_A_PROCESS = 2  # that both sides of a pair of processes must have: of one block no process tells its own scatter

COUNT: Bound = ("at least 1", lambda value: value >= 1)
BLOCKS: Bound = (f"at least {FEWEST_IN_A_PROCESS}", lambda value: value >= FEWEST_IN_A_PROCESS)
BATCH: Bound = ("from 1 to 100000", lambda value: 1 <= value <= 100_000)
POSITIVE: Bound = ("above 0", lambda value: value > 0)
NOT_NEGATIVE: Bound = ("0 or more", lambda value: value >= 0)
SHARE: Bound = ("at least 0 and below 1", lambda value: 0 <= value < 1)
FRACTION: Bound = ("above 0 and at most 1", lambda value: 0 < value <= 1)
INSIDE: Bound = ("above 0 and below 1", lambda value: 0 < value < 1)

GPU_FIGURES = (
    *("sm", "sm_count", "memory_bytes", "l2_bytes", "smem_per_block_bytes"),
    *("bandwidth_bytes_per_s", "peak_flops", "peak_flops_fp8"),
)
BOUNDS: dict[str, Bound] = {
    "model.hidden_size": COUNT,
    "model.vocab_size": COUNT,
    "model.context_length": COUNT,
    "model.params_total": POSITIVE,
    "model.params_active": POSITIVE,
    "model.logit_softcap": POSITIVE,
    "traffic.concurrency": COUNT,
    "traffic.cached_share": SHARE,
    "traffic.shared_prefix_tokens": NOT_NEGATIVE,
    "traffic.prompt.median_tokens": COUNT,
    "traffic.prompt.p95_tokens": COUNT,
    "traffic.output.median_tokens": COUNT,
    "traffic.output.p95_tokens": COUNT,
    "traffic.trace.tokens_per_block": COUNT,
    "traffic.trace.most_requests": COUNT,
    "traffic.trace.requests_per_s": POSITIVE,
    "traffic.limits.max_running_requests": COUNT,
    "traffic.limits.chunked_prefill_size": COUNT,
    "traffic.limits.pool_tokens": COUNT,
    "traffic.limits.accepted_length": COUNT,
    **dict.fromkeys((f"gpu.{name}" for name in GPU_FIGURES), POSITIVE),
    "model.weight_bits": POSITIVE,
    "model.attention_params": POSITIVE,
    "model.other_layers": NOT_NEGATIVE,
    "engine.tensor_parallel": COUNT,
    "executor.at_once": COUNT,
    "engine.attn_dp_size": COUNT,
    "engine.attn_cp_size": COUNT,
    "engine.dcp_size": COUNT,
    "engine.page_size": COUNT,
    "engine.context_length": COUNT,
    "engine.pipeline_parallel": COUNT,
    "engine.cuda_graph_max_bs": BATCH,
    "engine.swa_full_tokens_ratio": FRACTION,
    "engine.mem_fraction_static": INSIDE,
    "engine.speculative.topk": COUNT,
    "engine.speculative.steps": COUNT,
    "engine.speculative.draft_tokens": COUNT,
    "engine.speculative.accepted_length": COUNT,
    "measure.processes": COUNT,
    "measure.memory_fraction": FRACTION,
    "measure.seed": NOT_NEGATIVE,
    "measure.budget_s": POSITIVE,
    "measure.timing.blocks": BLOCKS,
    "measure.timing.replays": COUNT,
    "measure.timing.replay_ms": POSITIVE,
    "measure.timing.discard_ms": NOT_NEGATIVE,
    "measure.timing.warmup_s": NOT_NEGATIVE,
    "measure.timing.warmup_cap_s": POSITIVE,
    "search.trials": COUNT,
    "search.steps": COUNT,
    "search.finalists": COUNT,
    "search.p_threshold": INSIDE,
    "decide.min_gain": SHARE,
    "decide.max_cell_loss": SHARE,
    "decide.tie_margin": SHARE,
    "decide.confidence": INSIDE,
    "decide.sigma_floor": SHARE,
}
# (smaller, larger): the first must not exceed the second
ORDERED = (
    ("traffic.prompt.median_tokens", "traffic.prompt.p95_tokens"),
    ("traffic.output.median_tokens", "traffic.output.p95_tokens"),
    ("measure.timing.warmup_s", "measure.timing.warmup_cap_s"),
    ("model.params_active", "model.params_total"),
)


def out_of_bounds(tree: Tree, keys: Iterable[str] = BOUNDS) -> Iterator[str]:
    """``keys``: of `BOUNDS`."""
    for key in keys:
        allowed, holds = BOUNDS[key]
        value = at(tree, key)
        if value is not None and not (abs(value) < inf and holds(value)):
            yield f"{key}={value} is not possible; it must be {allowed}"


def out_of_order(tree: Tree) -> Iterator[str]:
    for smaller, larger in ORDERED:
        if at(tree, smaller) > at(tree, larger):
            yield f"{smaller}={at(tree, smaller)} exceeds {larger}={at(tree, larger)}; exchange or correct them"
