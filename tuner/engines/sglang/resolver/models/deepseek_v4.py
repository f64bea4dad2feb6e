"""DeepSeek-V4, which brings a backend of its own.

Source: sglang/srt/arg_groups/model_overrides/deepseek_v4.py, sglang/srt/arg_groups/deepseek_v4_hook.py.
"""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import NPU, algorithm, architecture, kv_dtype, no
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

V4 = "sglang/srt/arg_groups/model_overrides/deepseek_v4.py, _deepseek_v4_overrides"
V4_HOOK = "sglang/srt/arg_groups/deepseek_v4_hook.py, apply_deepseek_v4_defaults"

V4_RULES = (
    Rule("v4.backend", (), sets(base="dsv4"), "DeepSeek-V4 runs on its own backend, whatever was asked for.", V4),
    Rule("v4.page-npu", (NPU,), sets(page_size=128, prefill="dsv4", decode="dsv4"), "The NPU's form of it takes pages of 128.", V4),
    Rule("v4.page", (no(NPU),), sets(page_size=256), "Its compressed keys fill pages of 256, whatever was asked for.", V4),
    Rule(
        "v4.kv-npu",
        (NPU, no(kv_dtype("bfloat16"))),
        sets(kv_dtype="bfloat16"),
        "The NPU's pool holds bfloat16.",
        "sglang/srt/arg_groups/overrides.py, _deepseek_v4_kv_cache_dtype",
    ),
    Rule(
        "v4.kv",
        (kv_dtype("auto"),),
        sets(kv_dtype="fp8_e4m3"),
        "Its pool holds FP8 by default.",
        "sglang/srt/arg_groups/overrides.py, _deepseek_v4_kv_cache_dtype",
    ),
    Rule(
        "v4.kv-refused",
        (no(kv_dtype("fp8_e4m3", "bfloat16")),),
        Refuses("DeepSeek-V4 takes no KV dtype {s.kv_dtype}; write fp8_e4m3 or bfloat16", "is not supported for DeepseekV4ForCausalLM"),
        "It has kernels for these two.",
        "sglang/srt/arg_groups/overrides.py, _deepseek_v4_kv_cache_dtype",
    ),
    Rule(
        "v4.trtllm-gpu",
        (Condition("--dsv4-attn-backend trtllm off SM100", lambda r, s: r.dsv4_backend == "trtllm" and not r.machine.sm100),),
        Refuses("--dsv4-attn-backend trtllm needs SM100; leave it out", "requires an SM100/SM103"),
        "Its kernels are SM100's.",
        V4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "v4.trtllm-kv",
        (
            Condition(
                "--dsv4-attn-backend trtllm without FP8", lambda r, s: r.dsv4_backend == "trtllm" and s.kv_dtype not in ("auto", "fp8_e4m3")
            ),
        ),
        Refuses("--dsv4-attn-backend trtllm takes fp8_e4m3 KV only; leave --kv-cache-dtype out", "requires kv_cache_dtype=fp8_e4m3"),
        "Its layout is FP8's.",
        V4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "v4.trtllm-role",
        (
            Condition(
                "--dsv4-attn-backend trtllm in a disaggregated deployment", lambda r, s: r.dsv4_backend == "trtllm" and r.role != "unified"
            ),
        ),
        Refuses("--dsv4-attn-backend trtllm does not go with disaggregation; leave it out", "does not support PD disaggregation yet"),
        "The two sides do not compare their KV layouts.",
        V4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "v4.speculation",
        (Condition("speculation other than EAGLE and DSPARK", lambda r, s: s.algorithm not in (None, "EAGLE", "DSPARK")),),
        Refuses("DeepSeek-V4 speculates with EAGLE or DSPARK only, not {s.algorithm}", "Only EAGLE and DSPARK speculative algorithms"),
        "No other draft fits its cache.",
        V4_HOOK,
    ),
    Rule(
        "v4.chain",
        (algorithm("EAGLE"), Condition("topk not written as 1", lambda r, s: s.topk != 1)),
        Refuses("DeepSeek-V4 drafts in a chain only; write --speculative-eagle-topk 1", "topk == 1 is supported"),
        "Its backend has no tree masks, and the check reads the flag before it is filled in.",
        V4_HOOK,
    ),
)

STEPS = (Step("DeepSeek-V4", V4_RULES, when=(architecture("DeepseekV4ForCausalLM"),)),)
