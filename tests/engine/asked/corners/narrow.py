"""Narrow places that a draw seldom hits."""

from __future__ import annotations

from tests.engine.asked.corners.corner import FULL, HOPPER, MHA, MLA, NEMOTRON, NEW, NVIDIA, PYTHON_TREE, SM100, Corner, one, pair
from tuner.engines.sglang.resolver.request import Draft

CHAIN, TREE_DRAFT = Draft("EAGLE", **FULL), Draft("EAGLE", 2, 3, 6)

NARROW = (
    Corner(
        ("DeepseekV32ForCausalLM-sparse", "GlmMoeDsaForCausalLM-sparse"),
        (*SM100, *HOPPER),
        {"dcp": (2,), "tensor_parallel": (4,), "role": ("prefill", "unified"), "hierarchical_cache": (True, False)},
        since=NEW,
        noise=0,
    ),
    Corner(("deepseek-kpool",), NVIDIA, {"dcp": (2,), "tensor_parallel": (4,)}, since=NEW, noise=0),
    Corner(
        ("DeepseekV32ForCausalLM-sparse", "GlmMoeDsaForCausalLM-sparse"),
        (*HOPPER, "a100", "l40s"),
        {
            "kv_cache_dtype": ("fp8_e4m3",),
            "dsa_prefill_backend": ("tilelang",),
            "dsa_decode_backend": ("tilelang", "tilelang", "fa3"),
            "dcp": (1, 2),
            "tensor_parallel": (4,),
        },
        since=NEW,
        noise=0,
    ),
    Corner(("IQuestQ1ForCausalLM",), HOPPER, {"draft": (TREE_DRAFT,)}, since=NEW, noise=0),
    Corner(("IQuestQ1ForCausalLM",), HOPPER, {"kv_cache_dtype": ("fp8_e5m2",)}, since=NEW, noise=0),
    Corner(
        ("KimiK3ForConditionalGeneration",),
        ("mi300", "h100"),
        pair((None, "triton", "fa3"), ("aiter",)) | {"dcp": (2,), "tensor_parallel": (4,)},
        since=NEW,
        noise=0,
    ),
    Corner(
        ("KimiK3ForConditionalGeneration",),
        ("h100-plain", "b200", "b300", "b200-cuda-12.6"),
        {"kv_cache_dtype": ("auto", "bfloat16"), "page_size": (None, 1, 32), "dcp": (2,), "tensor_parallel": (4,)},
        since=NEW,
        noise=0,
    ),
    Corner(
        ("DeepseekV3ForCausalLM-sparse",),
        ("h100",),
        {"dsa_prefill_backend": (None, "triton"), "dsa_decode_backend": (None, "triton", "intel_xpu")},
        until="0.5.16",
        noise=0,
    ),
    Corner(
        NEMOTRON,
        SM100,
        {"draft": (CHAIN, Draft()), "mamba_strategy": ("no_buffer",), "disable_overlap": (True,), "deterministic": (False, True)},
        since=NEW,
        noise=0,
    ),
    Corner(("KimiK25ForConditionalGeneration", *MHA), SM100, one("triton") | {"unified_memory": (True,)}, until="0.5.16", noise=0),
    Corner(NEMOTRON, SM100, {"draft": (CHAIN,), "page_size": (1,), "disable_overlap": (True,)}, since=NEW, noise=0),
    Corner(("MiniMaxM3SparseForCausalLM",), SM100, {"draft": (TREE_DRAFT,)}, until="0.5.16", noise=0),
    Corner(("DiffusionGemmaForBlockDiffusion",), SM100, one("fa4") | {"page_size": (16, 64, 128)}, since=NEW, noise=0),
    Corner(("DeepseekV4ForCausalLM",), ("npu",), {"kv_cache_dtype": ("mxfp8", "nvfp4", "fp8_e4m3")}, noise=0),
    Corner(MHA, NVIDIA, {"attn_cp": (2,), "dcp": (2,), "tensor_parallel": (4,)}, since=NEW, noise=0),
    Corner(MHA, ("cpu-amx", "mac", "musa", "npu", "xpu"), {"draft": (Draft("DFLASH", model=True), Draft("DSPARK", model=True))}, noise=0),
    Corner(MHA, ("mi300",), one("aiter") | {"mem_fraction_static": (0.8,)}, noise=0),
    Corner(("Olmo2ForCausalLM",), NVIDIA, one("flashinfer", "flashinfer", None), noise=0),
    Corner(("Lfm2ForCausalLM", "Lfm2MoeForCausalLM"), NVIDIA, one("triton"), noise=0),
    Corner(
        ("Qwen3NextForCausalLM", "FalconH1ForCausalLM", "NemotronHForCausalLM"),
        NVIDIA,
        {"mamba_strategy": ("extra_buffer_lazy",), "role": ("prefill", "unified"), "draft": (Draft(), CHAIN)},
        noise=0,
    ),
    Corner(("DeepseekV3ForCausalLM", "DeepseekV2ForCausalLM"), (*SM100, "rtx-5090"), {"deterministic": (True,)}, noise=0),
    Corner(
        ("LlamaForCausalLM",),
        ("xpu",),
        one("intel_xpu") | {"dcp": (2,), "tensor_parallel": (16,), "draft": (CHAIN, Draft())},
        since=NEW,
        noise=0,
    ),
    Corner(("llama-unequal",), ("xpu",), one("intel_xpu") | {"dcp": (2,), "tensor_parallel": (16, 3)}, since=NEW, noise=0),
    Corner(MHA, ("h100",), {"kv_sharding": (True,), "role": ("prefill",), "tensor_parallel": (2,)}, since=NEW, noise=0),
    Corner(
        MLA,
        ("h100", "b200"),
        one("trtllm_mla", None)
        | {"kv_sharding": (True,), **PYTHON_TREE, "role": ("prefill",), "attn_dp": (2, 1), "tensor_parallel": (4,), "page_size": (64,)},
        since=NEW,
        noise=0,
    ),
    Corner(
        MHA,
        ("b200",),
        one("trtllm_mla")
        | {"kv_sharding": (True,), **PYTHON_TREE, "role": ("prefill",), "tensor_parallel": (4,), "disable_radix_cache": (True, False)},
        since=NEW,
        noise=0,
    ),
    Corner(
        MHA,
        ("h100",),
        {"kv_sharding": (True,), **PYTHON_TREE, "role": ("prefill",), "dcp": (2,), "tensor_parallel": (4,)},
        since=NEW,
        noise=0,
    ),
    Corner((*MHA, "llama-unequal"), SM100, one("trtllm_mha", "flashinfer") | {"unified_memory": (True,)}, since=NEW, noise=0),
    Corner(
        ("Step3p5ForCausalLM", "MiMoV2ForCausalLM", "LlamaForCausalLM"),
        HOPPER,
        {"draft": (CHAIN,), "pipeline_parallel": (2,)},
        since=NEW,
        noise=0,
    ),
    Corner(("LlamaForCausalLM",), ("npu",), {"dcp": (2,), "tensor_parallel": (4,)}, since=NEW, noise=0),
    Corner(
        ("LlamaForCausalLM",),
        ("h100",),
        {
            "without_kv_cache": (True,),
            "embedding": (True,),
            "chunk": (-1, -1, 8192),
            "disable_radix_cache": (True, True, False),
            "kv_cache_dtype": ("auto", "mxfp8", "nvfp4"),
        },
        noise=0,
    ),
    Corner(("GptOssForCausalLM", "SDARForCausalLM"), ("mi300",), noise=0),
    Corner(("SDARForCausalLM", "LLaDA2MoeModelLM"), ("mi300", "npu"), {"dllm_algorithm": ("LowConfidence",)}, noise=0),
    Corner(MHA, ("b200",), one("trtllm_mha") | {"draft": (TREE_DRAFT,)}, noise=0),
    Corner(MHA, NVIDIA, {"draft": (Draft("DFLASH", model=True), Draft("DSPARK", model=True)), "pipeline_parallel": (2,)}, noise=0),
)
