"""What the MLA backends refuse."""

from __future__ import annotations

from tuner.engines.sglang.resolver.backends.pages import CUTEDSL_MLA
from tuner.engines.sglang.resolver.conditions import BLACKWELL, SM100, base_or_decode, no
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

PASSES = "sglang/srt/arg_groups/overrides.py"
KV = f"{PASSES}, _mla_kv_cache_dtype_checks"
CUTEDSL = f"{PASSES}, _cutedsl_prefill_backend_fill"


def _kv_outside(*names: str) -> Condition:
    return Condition(f"KV dtype other than {' or '.join(names)}", lambda r, s: s.kv_dtype not in names)


RULES = (
    Rule(
        "compat.trtllm-mla-gpu",
        (base_or_decode("trtllm_mla"), no(BLACKWELL)),
        Refuses("trtllm_mla decodes on Blackwell only; choose another backend", "TRTLLM MLA backend is only supported on Blackwell"),
        "Its kernels are Blackwell's; prefill alone is not checked.",
        KV,
    ),
    Rule(
        "compat.trtllm-mla-kv-old",
        (base_or_decode("trtllm_mla"), _kv_outside("fp8_e4m3", "fp4_e2m1", "bf16", "auto")),
        Refuses(
            "trtllm_mla takes no KV dtype {s.kv_dtype}; write fp8_e4m3, fp4_e2m1, bf16 or auto",
            "TensorRT-LLM MLA backend only supports kv-cache-dtype",
        ),
        "The check knows bf16 but not bfloat16.",
        KV,
        until="0.5.16",
    ),
    Rule(
        "compat.trtllm-mla-kv",
        (base_or_decode("trtllm_mla"), _kv_outside("fp8_e4m3", "bf16", "auto")),
        Refuses(
            "trtllm_mla takes no KV dtype {s.kv_dtype}; write fp8_e4m3, bf16 or auto",
            "TensorRT-LLM MLA backend only supports kv-cache-dtype",
        ),
        "The check knows bf16 but not bfloat16.",
        KV,
        since="0.5.22",
    ),
    Rule(
        "compat.tokenspeed-mla-gpu",
        (base_or_decode("tokenspeed_mla"), no(BLACKWELL)),
        Refuses(
            "tokenspeed_mla decodes on Blackwell only; choose another backend", "tokenspeed_mla backend is only supported on Blackwell"
        ),
        "Its kernels are Blackwell's.",
        KV,
        until="0.5.22",
    ),
    Rule(
        "compat.tokenspeed-mla-kv",
        (base_or_decode("tokenspeed_mla"), _kv_outside("fp8_e4m3")),
        Refuses("tokenspeed_mla takes no KV dtype {s.kv_dtype}; set --kv-cache-dtype fp8_e4m3", "requires kv-cache-dtype=fp8_e4m3"),
        "It has FP8 kernels only.",
        KV,
        until="0.5.22",
    ),
    Rule(
        "compat.cutedsl-mla-prefill",
        (Condition("prefill cutedsl_mla", lambda r, s: s.prefill == "cutedsl_mla"),),
        Refuses("cutedsl_mla only decodes; drop --prefill-attention-backend or set it to trtllm_mla", "only supports decoding"),
        "It has no prefill kernel.",
        CUTEDSL,
    ),
    Rule(
        "compat.cutedsl-mla-gpu",
        (CUTEDSL_MLA, no(SM100)),
        Refuses("cutedsl_mla runs on SM100 only; choose another backend", "CuteDSL MLA backend is only supported on Blackwell"),
        "Its kernels are SM100's.",
        CUTEDSL,
    ),
    Rule(
        "compat.cutedsl-mla-kv",
        (CUTEDSL_MLA, _kv_outside("fp8_e4m3", "bf16", "bfloat16", "auto")),
        Refuses(
            "cutedsl_mla takes no KV dtype {s.kv_dtype}; write fp8_e4m3, bf16, bfloat16 or auto",
            "CuteDSL MLA backend only supports kv-cache-dtype",
        ),
        "It has kernels for these only.",
        CUTEDSL,
    ),
    Rule(
        "compat.cutedsl-mla-fill",
        (CUTEDSL_MLA, Condition("prefill unset", lambda r, s: s.prefill is None)),
        sets(prefill="trtllm_mla"),
        "cutedsl_mla only decodes, so prefill goes to its sister.",
        CUTEDSL,
    ),
)

STEPS = (Step("MLA backends", RULES),)
