"""Which backends read FP4 and MXFP8."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import BLACKWELL, MLA, kv_dtype, no, prefill_side
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step

KV4 = "sglang/srt/arg_groups/kv_cache_hook.py, handle_kv4_compatibility"
MXFP8 = "sglang/srt/arg_groups/kv_cache_hook.py, handle_mxfp8_kv_cache_compatibility"
FP4 = kv_dtype("nvfp4", "fp4_mx_block16")
LOOPED = Condition("prefill and decode alike, or prefill fa4", lambda r, s: s.prefill_side == s.decode_side or s.prefill_side == "fa4")
MLA_OK, MLA_OLD = ("flashinfer", "trtllm_mla"), ("cutlass_mla", "flashinfer", "trtllm_mla")
FA4_MHA = ("triton", "torch_native", "flex_attention")
MHA_OK = (*FA4_MHA, "trtllm_mha")


def _pair(
    rule: str, when: tuple[Condition, ...], side: str, allowed: tuple[str, ...], says: str, since: str = "0.5.16", until: str | None = None
) -> Rule:
    listed = ", ".join(allowed)
    words = f"{side} other than {' or '.join(allowed)}"
    outside = Condition(words, lambda r, s: (s.decode_side if side == "decode" else s.base) not in allowed)
    field = "{s.decode_side}" if side == "decode" else "{s.base}"
    text = f"an FP4 KV cache is not read by {field} here; choose {listed} for {side}"
    return Rule(rule, (FP4, *when, outside), Refuses(text, says), "The others cannot read FP4.", KV4, since, until)


FA4 = prefill_side("fa4")

PAIRS = (
    _pair("fp4.fa4-mla-old", (FA4, MLA), "decode", MLA_OLD, "KV4 FA4 MLA expects", until="0.5.16"),
    _pair("fp4.fa4-mla", (FA4, MLA), "decode", MLA_OK, "KV4 FA4 MLA expects", since="0.5.22"),
    _pair("fp4.fa4-mha", (FA4, no(MLA)), "decode", FA4_MHA, "KV4 FA4 MHA expects"),
    _pair("fp4.mla-old", (LOOPED, no(FA4), MLA), "base", MLA_OLD, "KV4 MLA expects", until="0.5.16"),
    _pair("fp4.mla", (LOOPED, no(FA4), MLA), "base", MLA_OK, "KV4 MLA expects", since="0.5.22"),
    _pair("fp4.mha", (LOOPED, no(FA4), no(MLA)), "base", MHA_OK, "KV4 MHA expects"),
)

MXFP8_REFUSED = Refuses("mxfp8 needs Blackwell; choose another --kv-cache-dtype", "--kv-cache-dtype mxfp8 requires")

MXFP8_RULES = (
    Rule(
        "mxfp8.gpu-old",
        (Condition("--kv-cache-dtype written as mxfp8", lambda r, s: r.kv_cache_dtype == "mxfp8"), no(BLACKWELL)),
        MXFP8_REFUSED,
        "Its block-scaled operands are Blackwell's; the flag is read as written.",
        MXFP8,
        until="0.5.16",
    ),
    Rule(
        "mxfp8.gpu",
        (kv_dtype("mxfp8"), no(BLACKWELL)),
        MXFP8_REFUSED,
        "Its block-scaled operands are Blackwell's.",
        MXFP8,
        since="0.5.22",
    ),
)

STEPS = (Step("FP4 pairs", PAIRS), Step("MXFP8 KV cache", MXFP8_RULES))
