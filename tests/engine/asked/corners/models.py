"""Models with rules of their own."""

from __future__ import annotations

from tests.engine.asked.corners.corner import (
    BLACKWELL,
    CHOOSY,
    FULL,
    HOPPER,
    MINICPM,
    MODEST,
    NEMOTRON,
    NEW,
    NVIDIA,
    SM100,
    SPARSE,
    Corner,
    drafts,
    one,
    pair,
    variables,
)
from tuner.engines.sglang.resolver.request import Draft

MODELS = (
    Corner(CHOOSY, noise=0.1),
    Corner(CHOOSY, NVIDIA, one(*MODEST)),
    Corner(CHOOSY, (*SM100, *HOPPER, "mi300", "xpu", "a100"), noise=0),
    Corner(("GptOssForCausalLM", "Gemma4ForCausalLM", "Gemma4UnifiedForConditionalGeneration"), NVIDIA, pair(MODEST, MODEST)),
    Corner(
        ("MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration"),
        (*SM100, *HOPPER, "mi300"),
        {"kv_cache_dtype": ("auto", "fp8_e4m3"), "page_size": (None, 64)},
    ),
    Corner(
        ("MiniMaxM3SparseForCausalLM",), SM100, {"kv_cache_dtype": ("fp8_e4m3",), **variables(SGLANG_DISABLE_M3_FP8_ATTN_GEMM="1")}, noise=0
    ),
    Corner(("Qwen3VLForConditionalGeneration",), ("mi300",), variables(SGLANG_USE_AITER_UNIFIED_ATTN="1"), noise=0.05),
    Corner(("Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"), HOPPER, noise=0.1),
    Corner(("IQuestQ1ForCausalLM",), NVIDIA, one(None, None, "fa3", "triton") | {"tensor_parallel": (4,)}, since=NEW, noise=0.1),
    Corner(
        ("IQuestQ1ForCausalLM",),
        NVIDIA,
        {"tensor_parallel": (4,), "attn_dp": (1, 2), "dcp": (1, 2), "pipeline_parallel": (1, 2)},
        since=NEW,
        noise=0,
    ),
    Corner(("IQuestQ1ForCausalLM",), NVIDIA, drafts("EAGLE", "NGRAM", "NEXTN"), since=NEW, noise=0),
    Corner(
        ("IQuestQ1ForCausalLM",),
        NVIDIA,
        drafts("EAGLE", attention_backend="triton") | drafts("NEXTN", attention_backend="triton"),
        since=NEW,
        noise=0,
    ),
    Corner(("IQuestQ1ForCausalLM",), NVIDIA, pair(("fa3", None), (None, "fa3")), since=NEW, noise=0),
    Corner(("KimiK3ForConditionalGeneration",), (*SM100, *HOPPER), noise=0.2, since=NEW),
    Corner(
        ("KimiK3ForConditionalGeneration",),
        SM100,
        one(None, "flashinfer", "trtllm_mla", "tokenspeed_mla") | {"dcp": (2,), "tensor_parallel": (4,)} | drafts("DSPARK", model=True),
        since=NEW,
        noise=0,
    ),
    Corner(
        ("KimiK3ForConditionalGeneration",),
        SM100,
        one(None, None, "flashinfer", "tokenspeed_mla") | {"dcp": (2,), "tensor_parallel": (4,)},
        since=NEW,
        noise=0,
    ),
    Corner(
        ("KimiK3ForConditionalGeneration", "KimiLinearForCausalLM"),
        (*SM100, "h100"),
        one(None, None, "trtllm_mla", "flashinfer", "tokenspeed_mla")
        | {"kv_cache_dtype": ("auto", "fp8_e4m3")}
        | drafts("DSPARK", model=True),
        noise=0,
    ),
    Corner(MINICPM, NVIDIA, one(None, None, "minicpm_flashattn", "minicpm_flashinfer", "fa3"), since=NEW),
    Corner(MINICPM, NVIDIA, one("minicpm_flashattn", "minicpm_flashinfer", None) | variables(SGLANG_MINICPM_FORCE_DENSE="1"), since=NEW),
    Corner(
        MINICPM,
        NVIDIA,
        {"hierarchical_cache": (True, False), "role": ("prefill", "unified"), "attn_dp": (1, 2), "tensor_parallel": (2,)},
        since=NEW,
        noise=0,
    ),
    Corner(
        NEMOTRON,
        BLACKWELL,
        {
            "draft": tuple(
                Draft(name, **more)
                for name in ("EAGLE", "NEXTN", "NGRAM", "DFLASH")
                for more in ({}, FULL, {"topk": 2, "steps": 3, "draft_tokens": 6})
            )
        },
        noise=0.1,
    ),
    Corner(NEMOTRON, (*BLACKWELL, "h100"), noise=0.2),
    Corner(NEMOTRON, NVIDIA, one("triton"), noise=0),
    Corner(("DeepseekV4ForCausalLM",), (*NVIDIA, "npu", "mi300"), {"kv_cache_dtype": ("auto", "auto", "bfloat16", "fp8_e5m2")}),
    Corner(
        ("DeepseekV4ForCausalLM",),
        (*SM100, "h100"),
        {"dsv4_backend": ("trtllm",), "kv_cache_dtype": ("auto", "bfloat16"), "role": ("unified", "prefill")},
        since=NEW,
        noise=0,
    ),
    Corner(
        ("DeepseekV4ForCausalLM",), NVIDIA, {"draft": (Draft("EAGLE"), Draft("EAGLE", **FULL), Draft("NGRAM"), Draft("EAGLE3"))}, noise=0
    ),
    Corner(("HrmTextForCausalLM", "hrm-causal", "MllamaForConditionalGeneration", "WhisperForConditionalGeneration"), noise=0.2),
)

SPARSE_CORNERS = (
    Corner(SPARSE, (*NVIDIA, "mi300", "mi300-preshuffled", "xpu"), {"kv_cache_dtype": ("auto", "auto", "bf16", "fp8_e4m3", "fp8_e5m2")}),
    Corner(
        SPARSE,
        (*NVIDIA, "mi300"),
        {"dsa_prefill_backend": (None, "flashmla_sparse", "triton", "tilelang"), "dsa_decode_backend": (None, "flashmla_kv", "fa3")},
        noise=0.05,
    ),
    Corner(
        SPARSE,
        SM100,
        {"dcp": (2,), "tensor_parallel": (4,), "draft": (Draft(), Draft("EAGLE", **FULL), Draft("EAGLE", 2, 3, 6))},
        since=NEW,
        noise=0,
    ),
    Corner(
        ("hyv4-sinks",),
        NVIDIA,
        {"kv_cache_dtype": ("auto", "bf16", "fp8_e4m3"), "dsa_decode_backend": (None, "fa3", "flashmla_sparse")},
        since=NEW,
        noise=0,
    ),
    Corner(("GlmMoeDsaForCausalLM-sparse",), ("rtx-5090", "gb10"), {"kv_cache_dtype": ("fp8_e4m3", "auto")}, noise=0),
)
