"""After every backend is chosen: the page size nobody asked for, the host cache, and models that force something at the very end."""

from __future__ import annotations

from tuner.engines.sglang.resolver.architectures import WHOLE_PROMPTS
from tuner.engines.sglang.resolver.conditions import HOST_CACHED, MUSA, PAGE_UNSET, RADIX, architecture, no
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

PAGE_DEFAULT = "sglang/srt/arg_groups/overrides.py, _page_size_default"
CAPABILITY = "sglang/srt/arg_groups/model_hook.py, handle_model_capability_adjustments"

VECTORISED = Condition(
    "ROCm with SGLANG_AITER_KV_CACHE_LAYOUT=vectorized_5d",
    lambda r, s: r.machine.kind == "rocm" and (r.variable("SGLANG_AITER_KV_CACHE_LAYOUT") or "").lower() == "vectorized_5d",
)

PAGES = (
    Rule("page.vectorised", (PAGE_UNSET, VECTORISED), sets(page_size=64), "The vectorised layout is tuned for pages of 64.", PAGE_DEFAULT),
    Rule("page.musa", (PAGE_UNSET, MUSA), sets(page_size=64), "MUSA's kernels take pages of 64.", PAGE_DEFAULT),
    Rule("page.default", (PAGE_UNSET,), sets(page_size=1), "Where nothing else asks, a page is one token.", PAGE_DEFAULT),
)

HOST_CACHE = Rule(
    "cache.host-radix",
    (HOST_CACHED, no(RADIX)),
    Refuses("--enable-hierarchical-cache needs the radix cache, which is off; drop it", "are mutually exclusive"),
    "There are no prefixes to keep on the host.",
    "sglang/srt/arg_groups/kv_cache_hook.py, handle_cache_compatibility",
)

CAPABILITIES = (
    Rule(
        "late.hrm-text",
        (architecture("HrmTextForCausalLM"), Condition("prefix reading", lambda r, s: r.model.prefix_lm)),
        sets(base="triton", chunk=-1, radix_cache=False, decode_graph="disabled", prefill_graph="disabled"),
        "It reads its prompt in both directions, which only Triton does; the split flags stay.",
        CAPABILITY,
    ),
    Rule(
        "late.embedding-gemma2",
        (architecture("EmbeddingGemma2Model"),),
        sets(chunk=-1),
        "It reads its prompt in both directions.",
        CAPABILITY,
        since="0.5.22",
    ),
    Rule("late.whole-prompts", (architecture(*WHOLE_PROMPTS),), sets(chunk=-1), "Its encoder's states cannot be cut.", CAPABILITY),
)

PAGES_STEP = Step("default page size", PAGES, first=True)
HOST_CACHE_STEP = Step("host cache", (HOST_CACHE,))
CAPABILITIES_STEP = Step("what models force at the end", CAPABILITIES)
