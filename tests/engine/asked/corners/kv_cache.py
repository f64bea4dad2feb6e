"""KV dtypes."""

from __future__ import annotations

from tests.engine.asked.corners.corner import FP4, FULL, MHA, MLA, NEW, NVIDIA, SM100, Corner, one, pair
from tuner.engines.sglang.resolver.request import Draft

KV_CACHE = (
    Corner((*MHA, *MLA), NVIDIA, {"kv_cache_dtype": FP4}),
    Corner(
        MHA,
        (*SM100, "rtx-5090", "h100"),
        one(None, None, "flashinfer", "trtllm_mha", "triton")
        | {"kv_cache_dtype": ("nvfp4",), "prefill_kv_dequant_dtype": ("auto", "auto", "nvfp4", "fp8_e4m3")},
        since=NEW,
        noise=0,
    ),
    Corner(
        MHA,
        (*SM100, "rtx-5090"),
        pair((None, "flashinfer", "trtllm_mha"), (None, "trtllm_mha", "triton"))
        | {"kv_cache_dtype": ("nvfp4",), "prefill_kv_dequant_dtype": ("auto", "nvfp4", "fp8_e4m3")},
        since=NEW,
        noise=0,
    ),
    Corner(
        MHA,
        SM100,
        one(None, "flashinfer", "trtllm_mha")
        | {
            "kv_cache_dtype": ("nvfp4",),
            "draft": tuple(
                Draft(name, model=name in ("DFLASH", "DSPARK"), **FULL) for name in ("EAGLE", "NGRAM", "STANDALONE", "DFLASH", "NEXTN")
            )
            + (
                Draft("NGRAM", ngram_breadth=1),
                Draft("EAGLE", attention_backend="triton", **FULL),
                Draft("EAGLE", attention_backend="trtllm_mha", **FULL),
            ),
        },
        noise=0,
    ),
    Corner(
        MHA,
        SM100,
        {
            "kv_cache_dtype": ("nvfp4",),
            "role": ("unified", "prefill"),
            "hierarchical_cache": (False, True),
            "unified_memory": (False, True),
        },
        noise=0,
    ),
    Corner(
        MHA,
        (*SM100, "h100"),
        {"kv_cache_dtype": ("fp4_mx_block16",), **pair(("fa4", "fa4", "triton"), ("triton", "flashinfer", "fa4"))},
        noise=0,
    ),
    Corner(
        MLA,
        (*SM100, "h100"),
        {"kv_cache_dtype": ("fp4_mx_block16",), **pair(("fa4", None), ("flashinfer", "triton", "trtllm_mla"))},
        noise=0,
    ),
    Corner(
        (*MHA, *MLA),
        NVIDIA,
        one("triton", "flashinfer", "fa3", "trtllm_mla", "cutlass_mla") | {"kv_cache_dtype": ("fp4_mx_block16",)},
        noise=0,
    ),
    Corner(MHA, NVIDIA, {"prefill_kv_dequant_dtype": ("nvfp4", "fp8_e4m3")}, since=NEW, noise=0),
)
