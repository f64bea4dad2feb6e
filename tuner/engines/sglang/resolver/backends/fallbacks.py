"""Backends that give way to another, and what a backend changes at the end."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import (
    CPU,
    MLA,
    RADIX,
    SM100,
    WRITTEN_TREE,
    XPU,
    any_field,
    architecture,
    base,
    kv_dtype,
    no,
    variable,
)
from tuner.engines.sglang.resolver.record import Computes, Condition, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/attention_hook.py, handle_attention_backend_compatibility"
PASSES = "sglang/srt/arg_groups/overrides.py"
FA4 = any_field("fa4")
LONG = Condition("context above 8192", lambda r, s: r.model.context_length > 8192)

HONOURED = Condition(
    "a written --mem-fraction-static that SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION keeps",
    lambda r, s: r.mem_fraction_static is not None and variable("SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION").holds(r, s),
)

LESS_MEMORY = Computes(
    "85 % of the memory fraction", lambda r, s: {"mem_fraction": None if s.mem_fraction is None else s.mem_fraction * 0.85}
)

FALLBACKS = (
    Rule(
        "compat.fa3-e5m2",
        (base("fa3"), kv_dtype("fp8_e5m2")),
        sets(base="triton"),
        "fa3's FP8 is e4m3; a split field keeps fa3 all the same.",
        f"{PASSES}, _attention_backend_fa3_fp8_fallback",
    ),
    Rule(
        "compat.fa4-page-diffusion",
        (FA4, no(MLA), SM100, no(WRITTEN_TREE), architecture("DiffusionGemmaForBlockDiffusion")),
        sets(page_size=1),
        "DiffusionGemma fills a canvas that no page holds.",
        f"{PASSES}, _fa4_page_constraint",
        since="0.5.22",
    ),
    Rule(
        "compat.fa4-page",
        (
            FA4,
            no(MLA),
            SM100,
            no(WRITTEN_TREE),
            Condition("not DiffusionGemma", lambda r, s: r.model.architecture != "DiffusionGemmaForBlockDiffusion"),
        ),
        sets(page_size=128),
        "fa4's paged loads on SM100 take pages of 128, whatever was asked for.",
        f"{PASSES}, _fa4_page_constraint",
    ),
    Rule("compat.aiter-memory-old", (base("aiter"), LONG), LESS_MEMORY, "aiter's workspace grows with the context.", HOOK, until="0.5.16"),
    Rule(
        "compat.aiter-memory",
        (base("aiter"), LONG, no(HONOURED)),
        LESS_MEMORY,
        "aiter's workspace grows with the context.",
        HOOK,
        since="0.5.22",
    ),
    Rule(
        "compat.no-amx",
        (base("intel_amx"), CPU, Condition("no AMX", lambda r, s: not r.machine.amx)),
        sets(base="torch_native"),
        "The processor has no AMX tiles.",
        f"{PASSES}, _attention_backend_platform_fallbacks",
    ),
    Rule(
        "compat.no-xmx",
        (base("intel_xpu"), XPU, Condition("no XMX", lambda r, s: not r.machine.xmx)),
        sets(base="triton"),
        "The XPU has no matrix engines.",
        f"{PASSES}, _attention_backend_platform_fallbacks",
    ),
)

DUAL_CHUNK = Rule(
    "compat.dual-chunk-radix",
    (base("dual_chunk_flash_attn"), RADIX),
    sets(radix_cache=False),
    "Its chunks of keys are not shared between requests.",
    HOOK,
    until="0.5.16",
)

STEPS = (Step("fallbacks", FALLBACKS),)
DUAL_CHUNK_STEP = Step("dual chunks", (DUAL_CHUNK,))
