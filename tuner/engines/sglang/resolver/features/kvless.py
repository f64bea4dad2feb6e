"""`--prefill-only-disable-kv-cache`."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_CP, RADIX, kv_dtype, no, prefill_side
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step

KVLESS = "sglang/srt/arg_groups/kv_cache_hook.py, validate_prefill_only_disable_kv_cache_args"
KVLESS_BACKEND = "sglang/srt/arg_groups/kv_cache_hook.py, handle_prefill_only_disable_kv_cache"
WITHOUT_KV = Condition("--prefill-only-disable-kv-cache", lambda r, s: r.without_kv_cache)

KVLESS_RULES = (
    Rule(
        "kvless.embedding",
        (Condition("no --is-embedding", lambda r, s: not r.embedding),),
        Refuses("--prefill-only-disable-kv-cache goes with --is-embedding only; add it", "currently requires --is-embedding"),
        "Only embeddings never read their keys again.",
        KVLESS,
    ),
    Rule(
        "kvless.fp4",
        (Condition("an FP4 KV dtype", lambda r, s: s.kv_dtype in ("nvfp4", "fp4_mx_block16")),),
        Refuses("--prefill-only-disable-kv-cache does not go with {s.kv_dtype}; drop --kv-cache-dtype", "does not currently support"),
        "The FP4 pool is allocated elsewhere.",
        KVLESS,
    ),
    Rule(
        "kvless.mxfp8",
        (kv_dtype("mxfp8"),),
        Refuses("--prefill-only-disable-kv-cache does not go with mxfp8; drop --kv-cache-dtype", "does not currently support"),
        "Its scales are stored beside the pool.",
        KVLESS,
    ),
    Rule(
        "kvless.chunks",
        (Condition("chunked prefill", lambda r, s: s.chunk != -1),),
        Refuses("--prefill-only-disable-kv-cache needs --chunked-prefill-size -1; add it", "requires --chunked-prefill-size=-1"),
        "A second chunk would read the first one's keys.",
        KVLESS,
    ),
    Rule(
        "kvless.radix",
        (RADIX,),
        Refuses("--prefill-only-disable-kv-cache needs --disable-radix-cache; add it", "requires --disable-radix-cache"),
        "There are no keys to share.",
        KVLESS,
    ),
    Rule(
        "kvless.cp",
        (ATTN_CP,),
        Refuses("--prefill-only-disable-kv-cache takes no prefill context parallelism; drop one", "incompatible with --attn-cp-size"),
        "A split prefill stages its keys in the pool.",
        KVLESS,
    ),
)

KVLESS_SIDE = Rule(
    "kvless.backend",
    (WITHOUT_KV, no(prefill_side("fa3", "fa4"))),
    Refuses(
        "--prefill-only-disable-kv-cache needs fa3 or fa4 for prefill, not {s.prefill_side}; set --prefill-attention-backend fa3",
        "requires the FA prefill backend",
    ),
    "Only these read keys that were never stored.",
    KVLESS_BACKEND,
)

STEP = Step("without a KV cache", KVLESS_RULES, when=(WITHOUT_KV,))
BACKEND_STEP = Step("without a KV cache: backend", (KVLESS_SIDE,))
