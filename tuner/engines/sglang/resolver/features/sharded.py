"""`--enable-kv-cache-sharding`: the ranks of a prefill server share their keys."""

from __future__ import annotations

from tuner.engines.sglang.resolver.architectures import ENCODER_DECODER
from tuner.engines.sglang.resolver.conditions import (
    ATTN_DP,
    DCP,
    HOST_CACHED,
    MLA,
    PREFILL_GRAPH_ON,
    RADIX,
    SPECULATION,
    architecture,
    no,
    prefill_side,
)
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

SHARD = "sglang/srt/arg_groups/kv_shard_hook.py, handle_kv_cache_sharding"
SHARD_BACKEND = "sglang/srt/arg_groups/kv_shard_hook.py, validate_kv_shard_attention_backend"
SHARDED = Condition("--enable-kv-cache-sharding", lambda r, s: r.kv_sharding)

COMPANIONS = (
    Rule(
        "shard.role",
        (Condition("not a prefill server", lambda r, s: r.role != "prefill"),),
        Refuses("--enable-kv-cache-sharding is for prefill servers; drop it", "only supported on PD prefill"),
        "A rank holds stripes of each page, which it cannot decode from.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.speculation",
        (SPECULATION,),
        Refuses("--enable-kv-cache-sharding takes no speculation here; drop one", "speculative decoding"),
        "Drafts read whole pages.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.dllm",
        (Condition("diffusion", lambda r, s: r.dllm_algorithm is not None),),
        Refuses("--enable-kv-cache-sharding takes no diffusion model; drop one", "does not support diffusion language"),
        "Diffusion admits requests by another budget.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.tree",
        (
            RADIX,
            Condition(
                "no SGLANG_UNIFIED_RADIX_TREE_CORE_BACKEND=python",
                lambda r, s: r.variable("SGLANG_UNIFIED_RADIX_TREE_CORE_BACKEND") != "python",
            ),
        ),
        Refuses(
            "--enable-kv-cache-sharding needs SGLANG_UNIFIED_RADIX_TREE_CORE_BACKEND=python; set it, or add --disable-radix-cache",
            "requires the Python UnifiedTreeCore",
        ),
        "Only the tree in Python knows stripes.",
        SHARD,
        since="0.5.22",
        until="0.5.22",
    ),
    Rule(
        "shard.unified",
        (Condition("unified memory", lambda r, s: r.unified_memory),),
        Refuses(
            "--enable-kv-cache-sharding does not go with --enable-unified-memory; drop one", "does not support --enable-unified-memory"
        ),
        "The two pools number their slots differently.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.dcp",
        (DCP,),
        Refuses("--enable-kv-cache-sharding does not go with --dcp-size; drop one", "mutually exclusive users"),
        "Both widen the allocator's numbers.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.host-cache",
        (HOST_CACHED,),
        Refuses("--enable-kv-cache-sharding does not go with --enable-hierarchical-cache; drop one", "--enable-hierarchical-cache yet"),
        "The host copies whole pages.",
        SHARD,
        since="0.5.22",
        until="0.5.22",
    ),
)

FITTING = (
    Rule(
        "shard.encoder",
        (architecture(*ENCODER_DECODER),),
        Refuses("--enable-kv-cache-sharding takes no encoder-decoder model; drop it", "does not support encoder-decoder"),
        "The encoder has a page table of its own.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.backend",
        (no(prefill_side("fa3", "trtllm_mla")),),
        Refuses(
            "--enable-kv-cache-sharding prefills on fa3, or on trtllm_mla for MLA, not {s.prefill_side}; set --prefill-attention-backend",
            "currently requires the fa3 prefill",
        ),
        "Only these gather stripes.",
        SHARD_BACKEND,
        since="0.5.22",
        until="0.5.22",
    ),
    Rule(
        "shard.backend-sparse",
        (no(prefill_side("fa3", "trtllm_mla", "dsa")),),
        Refuses(
            "--enable-kv-cache-sharding prefills on fa3, or on trtllm_mla for MLA, not {s.prefill_side}; set --prefill-attention-backend",
            "currently requires the fa3 prefill",
        ),
        "Only these gather stripes.",
        SHARD_BACKEND,
        since="0.5.23",
    ),
    Rule(
        "shard.trtllm-model",
        (prefill_side("trtllm_mla"), no(MLA)),
        Refuses(
            "trtllm_mla gathers stripes of MLA models only; set --prefill-attention-backend fa3", "with trtllm_mla requires an MLA model"
        ),
        "It is an MLA kernel.",
        SHARD_BACKEND,
        since="0.5.22",
    ),
    Rule(
        "shard.mla-dp",
        (MLA, ATTN_DP),
        Refuses("--enable-kv-cache-sharding of MLA needs plain tensor parallelism; drop --attn-dp-size", "requires plain"),
        "Stripes lie across the ranks of one group.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.mla-ranks",
        (MLA, Condition("one rank", lambda r, s: r.tensor_parallel <= 1)),
        Refuses("--enable-kv-cache-sharding needs --tp-size above 1", "needs tp_size > 1"),
        "One rank has nothing to share.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.mha",
        (no(MLA), Condition("no prefill context parallelism", lambda r, s: r.attn_cp <= 1)),
        Refuses("--enable-kv-cache-sharding of this model needs --enable-prefill-cp; add it", "requires --enable-prefill-cp"),
        "Stripes lie across the ranks that split a prefill.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.page",
        (Condition("page size 1", lambda r, s: (s.page_size or 1) <= 1),),
        Refuses("--enable-kv-cache-sharding needs pages; set --page-size 64", "requires a real page size"),
        "A page is what is sent and gathered.",
        SHARD,
        since="0.5.22",
    ),
    Rule(
        "shard.graph", (PREFILL_GRAPH_ON,), sets(prefill_graph="disabled"), "Gathers of stripes cannot be captured.", SHARD, since="0.5.22"
    ),
)

STEPS = (
    Step("sharded KV cache", COMPANIONS, when=(SHARDED,)),
    Step("sharded KV cache: model and backend", FITTING, when=(SHARDED,)),
)
