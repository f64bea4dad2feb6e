"""Names, the default tree, determinism."""

from __future__ import annotations

from tests.engine.asked.corners.corner import BLACKWELL, FULL, MHA, MLA, NEW, NVIDIA, SM100, SPARSE, Corner, one, pair, variables
from tuner.engines.sglang.resolver.request import Draft

NAMES = (
    Corner(MHA, flags=one("fa5", "vllm"), noise=0),
    Corner(flags=one("cutlass_mla", "dual_chunk_flash_attn"), since=NEW, noise=0),
    Corner(flags=one("hpc_ops", "qsa", "minicpm_flashattn"), until="0.5.16", noise=0),
    Corner(flags={"kv_cache_dtype": ("fp4_e2m1",)}, noise=0.3),
    Corner(flags=one("compressed", "nsa")),
    Corner(
        MLA, SM100, one("tokenspeed_mla") | {"kv_cache_dtype": ("auto", "fp8_e4m3"), "draft": (Draft(), Draft("EAGLE", **FULL))}, noise=0
    ),
    Corner(MLA, BLACKWELL, pair(("tokenspeed_mla", None), ("tokenspeed_mla", "flashinfer"))),
    Corner(MLA, NVIDIA, one("cutlass_mla", "flashmla"), until="0.5.16"),
)

TREE = (
    Corner(MHA, noise=0.05),
    Corner((*MLA, "MiniCPMForCausalLM", "KimiVLForConditionalGeneration"), noise=0.05),
    Corner(
        ("llama-unequal", "GraniteSWAForCausalLM", "GptOssForCausalLM"),
        (*SM100, "h100", "a100", "l40s-plain"),
        {"draft": (Draft(), Draft(), Draft("EAGLE"), Draft("EAGLE", **FULL), Draft("DFLASH", model=True))},
        noise=0,
    ),
    Corner(MHA, SM100, {"draft": (Draft("DFLASH", model=True), Draft("DFLASH", model=True, causal=True), Draft("NGRAM"))}, noise=0),
    Corner(("DeepseekV2ForCausalLM", "KimiLinearForCausalLM"), ("mi300",), {"tensor_parallel": (1, 2, 4, 8)}, noise=0.05),
    Corner(MHA, ("mi300",), one("aiter", None) | {"mem_fraction_static": (0.8, None)}, noise=0),
    Corner(MHA, ("mi300",), {"mem_fraction_static": (0.8,), **variables(SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION="1")}, noise=0),
    Corner(MHA, ("mi300",), variables(SGLANG_AITER_KV_CACHE_LAYOUT="vectorized_5d"), noise=0.05),
    Corner((*MHA, *MLA, *SPARSE), (), {"deterministic": (True,)}),
    Corner(
        (*MLA, *SPARSE),
        (*BLACKWELL, "h100"),
        one(None, "triton", "fa4", "fa3", "intel_xpu", "flashinfer") | {"deterministic": (True,)},
        noise=0,
    ),
    Corner(MHA, NVIDIA, {"deterministic": (True,), **pair(("trtllm_mha", "fa3"), ("trtllm_mha", None))}, noise=0),
)
