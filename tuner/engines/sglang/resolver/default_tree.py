"""SGLang's default backend where nothing else has set one: a tree whose first branch that holds wins.

Source: sglang/srt/arg_groups/model_override_base.py, get_default_attn_backend (0.5.16: ServerArgs._get_default_attn_backend).
"""

from __future__ import annotations

from tuner.engines.sglang.resolver import reasons
from tuner.engines.sglang.resolver.conditions import (
    CHAIN,
    FLASHINFER,
    HOPPER,
    MLA,
    MPS,
    ROCM,
    SINKS,
    SM100,
    UNEQUAL_WIDTHS,
    architecture,
    no,
)
from tuner.engines.sglang.resolver.record import Condition, Rule, sets

SOURCE = "sglang/srt/arg_groups/model_override_base.py, get_default_attn_backend"
AITER_HEADS = (16, 128)
MHA = no(MLA)
WHISPER = architecture("WhisperForConditionalGeneration")
# A draft's width that SGLang fills in itself comes after the default was chosen, so it does not count here.
FINAL_DRAFT = Condition(
    "no draft whose topk is left out",
    lambda r, s: s.algorithm is None or s.topk is not None,
    "a draft whose topk is left out",
)
FINAL_OR_DFLASH = Condition(
    "no draft but DFLASH whose topk is left out",
    lambda r, s: FINAL_DRAFT.holds(r, s) or (s.algorithm or "").upper() == "DFLASH",
    "a draft other than DFLASH whose topk is left out",
)
AITER_MLA = Condition("16 or 128 KV heads a rank", lambda r, s: max(1, r.model.kv_heads // r.tensor_parallel) in AITER_HEADS)
WIDE = "trtllm_mha views V with K's width, fa4 carries its own."
TRTLLM = "TensorRT-LLM's kernels serve B200, GB200 and B300; a draft whose width is still open may become a tree, which they cannot take."

RULES = (
    Rule("default.whisper", (WHISPER,), sets(base="flashinfer"), "Its cross-attention is captured with FlashInfer only.", SOURCE),
    Rule(
        "default.mha.hopper",
        (MHA, HOPPER, CHAIN),
        sets(base="fa3"),
        "FlashInfer 0.6.1 had become slower on Hopper, so fa3 was chosen until that is fixed (sglang issue 17411).",
        SOURCE,
        reason=reasons.HOPPER,
    ),
    Rule(
        "default.mha.sm100-widths",
        (MHA, SM100, CHAIN, FINAL_DRAFT, UNEQUAL_WIDTHS),
        sets(base="fa4"),
        WIDE,
        SOURCE,
        since="0.5.22",
        until="0.5.22",
    ),
    Rule(
        "default.mha.sm100-widths-dflash",
        (MHA, SM100, CHAIN, FINAL_OR_DFLASH, UNEQUAL_WIDTHS),
        sets(base="fa4"),
        WIDE,
        SOURCE,
        since="0.5.23",
    ),
    Rule(
        "default.mha.sm100",
        (MHA, SM100, CHAIN, FINAL_DRAFT),
        sets(base="trtllm_mha"),
        TRTLLM,
        SOURCE,
        until="0.5.22",
        reason=reasons.SM100,
    ),
    Rule(
        "default.mha.sm100-dflash",
        (MHA, SM100, CHAIN, FINAL_OR_DFLASH),
        sets(base="trtllm_mha"),
        TRTLLM,
        SOURCE,
        since="0.5.23",
        reason=reasons.SM100,
    ),
    Rule("default.mha.rocm", (MHA, ROCM), sets(base="aiter"), "AMD's own kernels are preferred on ROCm.", SOURCE),
    Rule("default.mha.mps", (MHA, MPS), sets(base="torch_native"), "No kernel library runs on Metal.", SOURCE),
    Rule(
        "default.mha.flashinfer",
        (MHA, FLASHINFER, no(SINKS)),
        sets(base="flashinfer"),
        "FlashInfer is the general choice on NVIDIA, but takes no attention sinks.",
        SOURCE,
        reason=reasons.GENERAL,
    ),
    Rule("default.mha.other", (MHA,), sets(base="triton"), "Triton runs wherever the rest does not.", SOURCE),
    Rule("default.mla.hopper", (MLA, HOPPER), sets(base="fa3"), "fa3 has MLA kernels on Hopper.", SOURCE, reason=reasons.MLA_HOPPER),
    Rule(
        "default.mla.sm100",
        (MLA, SM100),
        sets(base="flashinfer"),
        "FlashInfer has MLA kernels on SM100.",
        SOURCE,
        reason=reasons.MLA_SM100,
    ),
    Rule("default.mla.rocm-heads", (MLA, ROCM, AITER_MLA), sets(base="aiter"), "aiter's MLA kernels take these head counts.", SOURCE),
    Rule("default.mla.mps", (MLA, MPS), sets(base="torch_native"), "No kernel library runs on Metal.", SOURCE),
    Rule("default.mla.other", (MLA,), sets(base="triton"), "Triton runs wherever the rest does not.", SOURCE),
)
