"""Where trtllm_mha serves."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_CP, HOPPER, SM100, SM120, decode_side, either, no, prefill_side
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step

HOOK = "sglang/srt/arg_groups/attention_hook.py, handle_attention_backend_compatibility"
SKIP_SOFTMAX = "SGLANG_SKIP_SOFTMAX_PREFILL_THRESHOLD_SCALE_FACTOR"
HAS_TRTLLM_MHA = either(HOPPER, SM100, SM120)

RULES = (
    Rule(
        "compat.trtllm-mha-prefill-old",
        (prefill_side("trtllm_mha"), no(SM100)),
        Refuses(
            "trtllm_mha prefills on SM100 only; choose another prefill backend",
            "TRTLLM MHA backend for prefill is only supported on Blackwell",
        ),
        "Its context kernel was SM100's.",
        HOOK,
        until="0.5.16",
    ),
    Rule(
        "compat.trtllm-mha-prefill",
        (prefill_side("trtllm_mha"), no(HAS_TRTLLM_MHA)),
        Refuses(
            "trtllm_mha prefills on SM90, SM100 and SM120 only; choose another prefill backend", "TRTLLM MHA backend for prefill requires"
        ),
        "FlashInfer ships its kernels for these.",
        HOOK,
        since="0.5.22",
    ),
    Rule(
        "compat.trtllm-mha-sm120",
        (
            prefill_side("trtllm_mha"),
            SM120,
            Condition("FP8 KV or skip-softmax", lambda r, s: s.kv_dtype == "fp8_e4m3" or float(r.variable(SKIP_SOFTMAX) or 0) > 0),
        ),
        Refuses(
            "trtllm_mha's prefill on SM120 takes no fp8_e4m3 KV cache and no skip-softmax; choose another prefill backend",
            "prefill on SM120 does not support",
        ),
        "FMHA v2 has no such kernel there.",
        HOOK,
        since="0.5.22",
    ),
    Rule(
        "compat.trtllm-mha-decode",
        (decode_side("trtllm_mha"), no(HAS_TRTLLM_MHA)),
        Refuses(
            "trtllm_mha decodes on SM90, SM100 and SM120 only; choose another decode backend",
            "TRTLLM MHA backend for decode is only supported",
        ),
        "FlashInfer ships its kernels for these.",
        HOOK,
    ),
    Rule(
        "compat.trtllm-mha-cp",
        (prefill_side("trtllm_mha"), no(SM100), ATTN_CP),
        Refuses(
            "trtllm_mha splits a prefill over ranks on SM100 only; drop --attn-cp-size or choose another prefill backend",
            "requires SM100 (trtllm-gen context kernel)",
        ),
        "The kernel of the others masks no shards.",
        HOOK,
        since="0.5.22",
    ),
)

STEPS = (Step("trtllm_mha", RULES),)
