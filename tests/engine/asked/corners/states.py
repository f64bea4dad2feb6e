"""Recurrent layers, and backends that change or refuse."""

from __future__ import annotations

from tests.engine.asked.corners.corner import (
    BLACKWELL,
    FULL,
    HOPPER,
    HYBRID,
    MHA,
    MLA,
    NEW,
    NVIDIA,
    SM100,
    Corner,
    drafts,
    one,
    pair,
    variables,
)
from tuner.engines.sglang.resolver.request import Draft, Graphs

STATES = (
    Corner(
        HYBRID,
        SM100,
        {
            "disable_radix_cache": (False, True),
            "mamba_strategy": ("auto", "extra_buffer", "no_buffer"),
            "draft": (Draft(), Draft(), Draft("EAGLE", **FULL)),
        },
        noise=0.1,
    ),
    Corner(
        HYBRID,
        (),
        {"page_size": (None, 1, 64, 48), "disable_overlap": (False, True), "mamba_strategy": ("auto", "no_buffer", "extra_buffer")},
        noise=0.05,
    ),
    Corner(HYBRID, ("cpu-amx", "mac", "hpu", "xpu"), {"mamba_strategy": ("extra_buffer",)}, noise=0),
    Corner(HYBRID, NVIDIA, {"draft": (Draft("EAGLE", draft_tokens=300, topk=2, steps=3),)}, noise=0),
    Corner(HYBRID, NVIDIA, one("trtllm_mha") | {"mamba_strategy": ("no_buffer", "auto"), "disable_overlap": (True,)}, noise=0),
    Corner((*MHA, "JetNemotronForCausalLM"), NVIDIA, {"mamba_strategy": ("extra_buffer",)}, noise=0),
    Corner(("InklingForConditionalGeneration",), (), {"page_size": (None, 64), "mamba_strategy": ("auto", "no_buffer")}, noise=0.1),
)

COMPATIBILITY = (
    Corner(MHA, NVIDIA, one("flex_attention", "torch_native") | {"draft": (Draft(), Draft("EAGLE", **FULL))}, noise=0),
    Corner(
        MLA,
        BLACKWELL,
        one("trtllm_mla", "tokenspeed_mla", "cutedsl_mla", "flashmla")
        | {"kv_cache_dtype": ("auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2"), "page_size": (None, 32, 1)},
        noise=0,
    ),
    Corner(
        MLA,
        (*SM100, "rtx-5090"),
        pair(("cutedsl_mla", "trtllm_mla", None), ("cutedsl_mla", "cutedsl_mla", "fa3"))
        | {"kv_cache_dtype": ("auto", "bfloat16", "fp8_e5m2")},
        noise=0,
    ),
    Corner(
        MHA,
        (*NVIDIA, "thor"),
        one(None, "trtllm_mha", "hpc_ops", "fa4") | {"page_size": (None, 1, 16, 64, 128, 256), "kv_cache_dtype": ("auto", "fp8_e4m3")},
        noise=0.05,
    ),
    Corner(MHA, NVIDIA, pair(("trtllm_mha", "fa4", None), ("trtllm_mha", "fa4", None)) | {"page_size": (None, 16, 128)}, noise=0.05),
    Corner(
        MHA,
        ("rtx-5090",),
        one("trtllm_mha") | {"kv_cache_dtype": ("auto", "fp8_e4m3")} | variables(SGLANG_SKIP_SOFTMAX_PREFILL_THRESHOLD_SCALE_FACTOR="0.5"),
        noise=0,
    ),
    Corner(MHA, (*SM100, "h100", "rtx-5090"), one("trtllm_mha", None) | {"attn_cp": (2,), "tensor_parallel": (2, 4)}, since=NEW, noise=0),
    Corner(MHA, HOPPER, one("fa3", None) | {"kv_cache_dtype": ("fp8_e5m2", "fp8_e4m3")}, noise=0),
    Corner(("DiffusionGemmaForBlockDiffusion",), SM100, one("fa4"), since=NEW, noise=0.1),
    Corner(("DeepseekV3ForCausalLM",), SM100, {"graphs": (Graphs(), Graphs(), Graphs(prefill="breakable"))}, noise=0.1),
    Corner(
        MHA, NVIDIA, drafts("EAGLE", attention_backend="trtllm_mha", **FULL) | {"page_size": (None, 1, 64)} | one("triton", "fa3"), noise=0
    ),
    Corner((*MHA, *MLA), ("xpu", "xpu-plain"), one("intel_xpu", None) | {"page_size": (None, 16, 64)}, noise=0),
    Corner(
        (*MHA, *MLA),
        ("xpu",),
        one("intel_xpu", "intel_xpu", None)
        | {"dcp": (2, 4), "tensor_parallel": (2, 4, 8, 3)}
        | {"draft": (Draft(), Draft(), Draft("EAGLE", **FULL))},
        since=NEW,
        noise=0,
    ),
    Corner((*MHA, *MLA), ("xpu",), pair(("triton", None), ("intel_xpu",)), noise=0),
    Corner(("GptOssForCausalLM", "Llama4ForCausalLM"), ("xpu", "xpu-plain"), noise=0),
)
