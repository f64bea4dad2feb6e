"""Features, and deployments."""

from __future__ import annotations

from tests.engine.asked.corners.corner import FULL, HOPPER, MHA, MLA, NEW, NVIDIA, PYTHON_TREE, SM100, Corner, one
from tuner.engines.sglang.resolver.request import Draft, Graphs

FEATURES = (
    Corner((*MHA, *MLA), NVIDIA, one("flashinfer", "flashinfer", None) | {"multi_item_scoring": (True,)}),
    Corner(
        MHA,
        NVIDIA,
        {
            "without_kv_cache": (True,),
            "embedding": (True, True, False),
            "chunk": (-1, -1, 8192),
            "disable_radix_cache": (True, True, False),
            "kv_cache_dtype": ("auto", "auto", "fp4_mx_block16", "mxfp8"),
        }
        | one(None, "fa4", "triton"),
        noise=0,
    ),
    Corner(
        MHA,
        ("h100",),
        {
            "without_kv_cache": (True,),
            "embedding": (True,),
            "chunk": (-1,),
            "disable_radix_cache": (True,),
            "attn_cp": (1, 2),
            "tensor_parallel": (2,),
        },
        noise=0,
    ),
    Corner(
        (*MHA, *MLA, "MllamaForConditionalGeneration"),
        ("h100", "b200"),
        {"kv_sharding": (True,), **PYTHON_TREE, "role": ("prefill",), "page_size": (64, 64, None), "tensor_parallel": (2, 4, 1)}
        | one(None, "fa3", "trtllm_mla", "triton"),
        since=NEW,
        noise=0,
    ),
    Corner(
        MHA,
        ("h100",),
        {"kv_sharding": (True,), **PYTHON_TREE, "role": ("prefill",), "page_size": (64, None), "tensor_parallel": (2,), "attn_cp": (2,)},
        since=NEW,
        noise=0,
    ),
    Corner(
        (*MHA, *MLA),
        ("h100",),
        {
            "kv_sharding": (True,),
            **PYTHON_TREE,
            "role": ("unified", "prefill"),
            "unified_memory": (False, True),
            "dcp": (1, 2),
            "hierarchical_cache": (False, True),
            "tensor_parallel": (4,),
            "attn_dp": (1, 2),
        },
        since=NEW,
        noise=0,
    ),
    Corner(
        MHA,
        ("h100",),
        {
            "kv_sharding": (True,),
            **PYTHON_TREE,
            "role": ("prefill",),
            "draft": (Draft("EAGLE", **FULL), Draft()),
            "dllm_algorithm": ("LowConfidence", None),
        },
        since=NEW,
        noise=0,
    ),
    Corner(
        (*MHA, *MLA, "InklingForConditionalGeneration"),
        (*SM100, *HOPPER),
        {"unified_memory": (True,), "graphs": (Graphs(), Graphs(prefill="full"), Graphs(off=True))}
        | one(None, "triton", "fa3", "trtllm_mha", "flashmla", "torch_native"),
        noise=0,
    ),
    Corner(
        MHA,
        (*SM100, *HOPPER),
        {
            "unified_memory": (True,),
            "role": ("unified", "prefill"),
            "draft": (Draft("NGRAM"), Draft("DFLASH", model=True), Draft("STANDALONE", **FULL), Draft()),
        }
        | one("triton", "fa3"),
        until="0.5.16",
        noise=0,
    ),
    Corner(
        MHA,
        (*SM100, *HOPPER),
        {"unified_memory": (True,), "draft": (Draft("NGRAM"), Draft("STANDALONE", **FULL), Draft("EAGLE", 2, 3, 6))} | one("triton", "fa3"),
        since=NEW,
        noise=0,
    ),
    Corner(
        ("SDARForCausalLM", "LLaDA2MoeModelLM", "LlamaForCausalLM"),
        (*NVIDIA, "mi300", "npu", "cpu-amx"),
        {"dllm_algorithm": ("LowConfidence",), "page_size": (None, 4, 32, 64)} | one(None, "triton", "fa3"),
    ),
    Corner(
        ("SDARForCausalLM", "LLaDA2MoeModelLM"),
        NVIDIA,
        {"dllm_algorithm": ("LowConfidence",), "disable_radix_cache": (True,), "page_size": (None, 64, 128)}
        | {"graphs": (Graphs(), Graphs(off=True))},
        noise=0,
    ),
    Corner(
        ("DiffusionGemmaForBlockDiffusion", "SDARForCausalLM"),
        (*SM100, "h100", "mi300", "xpu"),
        {"dllm_algorithm": ("Gemma4Renoise", "Gemma4Renoise", "LowConfidence"), "graphs": (Graphs(), Graphs(prefill="full"))}
        | one(None, "fa4", "triton", "fa3"),
        since=NEW,
        noise=0.05,
    ),
    Corner(MHA, ("mac",), one(None, "torch_native", "triton") | {"tensor_parallel": (1, 2)}, noise=0),
    Corner(
        (),
        (),
        {"graphs": (Graphs(off=True), Graphs(prefill_off=True), Graphs(decode_off=True), Graphs(off=True, prefill="breakable"))},
        noise=0.05,
    ),
    Corner((), ("xpu",), {"graphs": (Graphs(decode="breakable"), Graphs(decode="full"), Graphs(prefill="full"))}, noise=0.05),
    Corner(
        (),
        ("h100", "b200", "musa", "mi300"),
        {"role": ("prefill", "decode", "unified"), "hierarchical_cache": (False, True), "deterministic": (False, True)},
        noise=0.05,
    ),
    Corner(
        ("KimiK25ForConditionalGeneration", "MiniMaxM3SparseForConditionalGeneration", "LLaDAModelLM", "Qwen3NextForCausalLM"),
        ("h100", "b200", "musa"),
        noise=0.3,
    ),
    Corner(MHA, NVIDIA, {"chunk": (2000, 4096, 8192), "page_size": (None, 48, 64)}, noise=0),
)
