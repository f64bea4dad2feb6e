"""MiniMax-M3: backend and page size."""

from __future__ import annotations

from tuner.engines.sglang.resolver.architectures import MINIMAX_M3
from tuner.engines.sglang.resolver.conditions import HOPPER, PAGE_UNSET, ROCM, SM100, UNSET, architecture, kv_dtype, no, variable
from tuner.engines.sglang.resolver.models.dense import FA3, FA4, TRITON, TRTLLM
from tuner.engines.sglang.resolver.record import Condition, Rule, Step, sets

MO = "sglang/srt/arg_groups/model_overrides"
M3 = f"{MO}/minimax_m3.py, _minimax_m3_overrides"
M3_FP8_OFF = variable("SGLANG_DISABLE_M3_FP8_ATTN_GEMM")
M3_MODEL = architecture(*MINIMAX_M3)

M3_BACKEND = (
    Rule("minimax-m3.rocm", (ROCM,), TRITON, "Its sparse blocks run on Triton there.", M3),
    Rule(
        "minimax-m3.fp8",
        (SM100, kv_dtype("fp8_e4m3"), no(M3_FP8_OFF)),
        TRTLLM,
        "Only TensorRT-LLM serves its dense layers with FP8 queries.",
        M3,
        since="0.5.22",
    ),
    Rule("minimax-m3.sm100", (SM100,), FA4, "Its sparse blocks run on fa4 there.", M3),
    Rule("minimax-m3.hopper", (HOPPER,), FA3, "Its dense layers run on fa3 there.", M3),
)

M3_PAGE = (
    Rule(
        "minimax-m3.page-sm100-old",
        (SM100, PAGE_UNSET, Condition("base fa4", lambda r, s: s.base == "fa4")),
        sets(page_size=128),
        "A page holds a sparse block.",
        M3,
        until="0.5.16",
    ),
    Rule(
        "minimax-m3.page-sm100",
        (SM100, PAGE_UNSET, Condition("base fa4 or trtllm_mha", lambda r, s: s.base in ("fa4", "trtllm_mha"))),
        sets(page_size=128),
        "A page holds a sparse block.",
        M3,
        since="0.5.22",
    ),
    Rule(
        "minimax-m3.page-hopper",
        (HOPPER, PAGE_UNSET, Condition("base fa3", lambda r, s: s.base == "fa3")),
        sets(page_size=128),
        "A page holds a sparse block.",
        M3,
    ),
)

STEPS = (Step("MiniMax-M3", M3_BACKEND, first=True, when=(M3_MODEL, UNSET)), Step("MiniMax-M3 pages", M3_PAGE, when=(M3_MODEL,)))
