"""DeepSeek's sparse attention: its KV dtype, and the inner backends that serve it.

Source: sglang/srt/arg_groups/overrides.py.
"""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import DCP, ROCM, SINKS, XPU, kind, kv_dtype, no
from tuner.engines.sglang.resolver.models.deepseek import FAMILY
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Step, sets

DTYPE = "sglang/srt/arg_groups/overrides.py, _dsa_kv_cache_dtype_default"
SPLIT = "sglang/srt/arg_groups/overrides.py, _dsa_split_backend_resolution"
CHECK = "sglang/srt/arg_groups/overrides.py, _check_dsa_backend_constraints"
GPU = kind("cuda", "rocm")
BLACKWELL_MAJOR = Condition("SM100 or newer", lambda r, s: (r.machine.sm or 0) >= 100)

CAPABLE = Condition(
    "DeepSeek sparse attention off the NPU, before 0.5.22 off the XPU too",
    lambda r, s: r.model.sparse and r.machine.kind not in (("npu", "xpu") if r.version == "0.5.16" else ("npu",)),
)

GLM_SM12 = Condition(
    "GLM with FP8 on SM12x",
    lambda r, s: r.model.architecture == "GlmMoeDsaForCausalLM" and (r.machine.sm or 0) // 10 == 12 and s.kv_dtype == "fp8_e4m3",
)

DTYPE_RULES = (
    Rule(
        "dsa.kv-blackwell",
        (GPU, kv_dtype("auto"), BLACKWELL_MAJOR, Condition("no sinks", lambda r, s: not r.model.sinks)),
        sets(kv_dtype="fp8_e4m3"),
        "Blackwell's sparse kernels read FP8.",
        DTYPE,
    ),
    Rule("dsa.kv-auto", (GPU, kv_dtype("auto")), sets(kv_dtype="bfloat16"), "Older GPUs' sparse kernels read bfloat16.", DTYPE),
    Rule(
        "dsa.kv-xpu", (XPU, kv_dtype("auto")), sets(kv_dtype="bfloat16"), "The XPU's sparse kernel reads bfloat16.", DTYPE, since="0.5.22"
    ),
    Rule(
        "dsa.kv-sinks",
        (GPU, Condition("sinks", lambda r, s: r.model.sinks), no(kv_dtype("auto", "bf16", "bfloat16"))),
        Refuses(
            "sparse attention with sinks takes no KV dtype {s.kv_dtype}; leave --kv-cache-dtype out",
            "Learnable DSA attention sinks require",
        ),
        "The sink kernel reads bfloat16.",
        DTYPE,
        since="0.5.22",
    ),
    Rule("dsa.kv-bf16", (GPU, kv_dtype("bf16")), sets(kv_dtype="bfloat16"), "One name for one dtype.", DTYPE),
    Rule(
        "dsa.kv-refused",
        (GPU, no(kv_dtype("bfloat16", "fp8_e4m3"))),
        Refuses("sparse attention takes no KV dtype {s.kv_dtype}; write bfloat16 or fp8_e4m3", "DeepSeek DSA only supports"),
        "It has kernels for these two.",
        DTYPE,
    ),
)


def _inner(prefill: str, decode: str) -> Computes:
    return Computes(
        f"inner backends {prefill} and {decode} where unset",
        lambda r, s: {"dsa_prefill": s.dsa_prefill or prefill, "dsa_decode": s.dsa_decode or decode},
    )


def _unset(field: str) -> Condition:
    return Condition(f"{field.replace('_', ' ')} backend unset", lambda r, s: getattr(s, field) is None)


INNER_RULES = (
    Rule("dsa.inner-xpu", (XPU,), _inner("intel_xpu", "intel_xpu"), "The XPU has one sparse kernel.", SPLIT, since="0.5.22"),
    Rule(
        "dsa.inner-sinks-refused",
        (
            SINKS,
            Condition("another inner backend written", lambda r, s: {s.dsa_prefill, s.dsa_decode} - {None, "flashmla_sparse"} != set()),
        ),
        Refuses(
            "sparse attention with sinks runs on flashmla_sparse only; drop --dsa-prefill-backend and --dsa-decode-backend",
            "uses learnable attention sinks",
        ),
        "No other sparse kernel knows sinks.",
        SPLIT,
        since="0.5.22",
    ),
    Rule(
        "dsa.inner-sinks",
        (SINKS,),
        _inner("flashmla_sparse", "flashmla_sparse"),
        "No other sparse kernel knows sinks.",
        SPLIT,
        since="0.5.22",
    ),
    Rule(
        "dsa.inner-glm",
        (GLM_SM12,),
        _inner("flashinfer_sparse_mla", "flashinfer_sparse_mla"),
        "FlashInfer has the only FP8 kernel for SM12x.",
        SPLIT,
        since="0.5.22",
    ),
    Rule("dsa.inner-rocm", (ROCM,), _inner("triton", "triton"), "Triton's sparse kernel runs on ROCm.", SPLIT, since="0.5.22"),
    Rule(
        "dsa.inner-rocm-old",
        (ROCM, _unset("dsa_prefill"), _unset("dsa_decode")),
        _inner("tilelang", "tilelang"),
        "TileLang's sparse kernel ran on ROCm.",
        SPLIT,
        until="0.5.16",
    ),
    Rule(
        "dsa.inner-fp8-blackwell",
        (kv_dtype("fp8_e4m3"), BLACKWELL_MAJOR),
        _inner("trtllm", "trtllm"),
        "TensorRT-LLM's sparse kernel reads FP8 on Blackwell.",
        SPLIT,
    ),
    Rule("dsa.inner-fp8", (kv_dtype("fp8_e4m3"),), _inner("flashmla_kv", "flashmla_kv"), "FlashMLA reads FP8 on Hopper.", SPLIT),
    Rule(
        "dsa.inner-blackwell", (BLACKWELL_MAJOR,), _inner("flashmla_sparse", "trtllm"), "The fastest pair for bfloat16 on Blackwell.", SPLIT
    ),
    Rule("dsa.inner", (), _inner("flashmla_sparse", "fa3"), "The fastest pair for bfloat16 on Hopper.", SPLIT),
)

ON_CUDA_FP8 = Condition("FP8 on NVIDIA", lambda r, s: r.machine.kind != "rocm" and s.kv_dtype == "fp8_e4m3")
TILELANG = Condition("inner backend tilelang", lambda r, s: "tilelang" in (s.dsa_prefill, s.dsa_decode))
BOTH = Condition("in one phase only", lambda r, s: s.dsa_prefill != s.dsa_decode)

CHECKS = (
    Rule(
        "dsa.inner-triton",
        (no(ROCM), Condition("inner backend triton", lambda r, s: "triton" in (s.dsa_prefill, s.dsa_decode) and not r.model.sinks)),
        Refuses("the sparse backend triton runs on ROCm only; choose flashmla_kv or trtllm", "DSA backend is only supported on"),
        "Its kernel was written for ROCm.",
        "sglang/srt/arg_groups/overrides.py, _check_dsa_backend_constraints",
        since="0.5.22",
    ),
    Rule(
        "dsa.inner-tilelang",
        (ON_CUDA_FP8, TILELANG, BOTH),
        Refuses(
            "tilelang reads FP8 in both phases or none; set --dsa-prefill-backend and --dsa-decode-backend alike",
            "requires both DSA backends to be tilelang",
        ),
        "Its FP8 layout is its own.",
        CHECK,
        since="0.5.22",
    ),
    Rule(
        "dsa.inner-tilelang-split",
        (ON_CUDA_FP8, TILELANG, DCP),
        Refuses("tilelang with FP8 takes no decode context parallelism; drop --dcp-size", "does not support --dcp-size"),
        "It merges no parts.",
        CHECK,
        since="0.5.22",
    ),
    Rule(
        "dsa.inner-tilelang-gpu",
        (ON_CUDA_FP8, TILELANG, Condition("older than SM89", lambda r, s: (r.machine.sm or 0) < 89)),
        Refuses("tilelang reads FP8 on SM89 and newer only; choose another sparse backend", "requires SM89 or newer"),
        "Older GPUs have no FP8 arithmetic.",
        CHECK,
        since="0.5.22",
    ),
)

STEPS = (
    Step("sparse KV dtype", DTYPE_RULES, when=(FAMILY, CAPABLE)),
    Step("sparse inner backends", INNER_RULES, first=True, when=(FAMILY, CAPABLE)),
    Step("sparse inner checks", CHECKS, when=(FAMILY, CAPABLE, no(SINKS), no(GLM_SM12))),
)
