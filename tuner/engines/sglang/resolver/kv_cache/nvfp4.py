"""An NVFP4 cache: which backends read it."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import SM100, kv_dtype, no
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Settings, Step
from tuner.engines.sglang.resolver.request import Request

NVFP4_HOOK = "sglang/srt/arg_groups/kv_cache_hook.py, handle_nvfp4_prefill_kv_dequant_dtype"
NVFP4 = kv_dtype("nvfp4")
PREFILL_FOR = {"fp8_e4m3": "flashinfer", "nvfp4": "trtllm_mha"}
DTYPE_FOR = {backend: dtype for dtype, backend in PREFILL_FOR.items()}


def _asked(request: Request, settings: Settings) -> str | None:
    """Who was asked to prefill, by the split flag or the base."""
    return settings.prefill or settings.base


def _dtype(request: Request, settings: Settings) -> str:
    """What NVFP4 keys are turned into for prefill."""
    if request.prefill_kv_dequant_dtype != "auto":
        return request.prefill_kv_dequant_dtype
    return DTYPE_FOR.get(_asked(request, settings) or "", "nvfp4" if request.machine.sm100 else "fp8_e4m3")


AUTO = Condition("--prefill-kv-cache-dequant-dtype auto", lambda r, s: r.prefill_kv_dequant_dtype == "auto")

NVFP4_RULES = (
    Rule(
        "nvfp4.only",
        (no(NVFP4), no(AUTO)),
        Refuses("--prefill-kv-cache-dequant-dtype goes with --kv-cache-dtype nvfp4 only; drop it", "applies only with"),
        "Only NVFP4 keys are turned into something else for prefill.",
        NVFP4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "nvfp4.prefill-backend",
        (
            NVFP4,
            AUTO,
            Condition("another prefill backend than flashinfer and trtllm_mha", lambda r, s: _asked(r, s) not in (None, *DTYPE_FOR)),
        ),
        Refuses("NVFP4 prefills on flashinfer or trtllm_mha, not {s.prefill_side}; drop the backend flag", "NVFP4 prefill supports"),
        "The others read neither FP8 workspaces nor NVFP4.",
        NVFP4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "nvfp4.native",
        (NVFP4, no(SM100), Condition("native NVFP4 prefill", lambda r, s: _dtype(r, s) == "nvfp4")),
        Refuses(
            "native NVFP4 prefill needs SM100; set --prefill-kv-cache-dequant-dtype fp8_e4m3",
            "Native NVFP4 prefill currently requires SM100",
        ),
        "Its kernels are SM100's.",
        NVFP4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "nvfp4.mismatch",
        (NVFP4, Condition("another prefill backend than the dtype's", lambda r, s: s.prefill not in (None, PREFILL_FOR[_dtype(r, s)]))),
        Refuses(
            "--prefill-kv-cache-dequant-dtype and --prefill-attention-backend {s.prefill} do not go together; drop one",
            "requires prefill backend",
        ),
        "Each dtype has one prefill backend.",
        NVFP4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "nvfp4.decode-backend",
        (NVFP4, Condition("another decode backend than trtllm_mha", lambda r, s: s.decode not in (None, "trtllm_mha"))),
        Refuses("NVFP4 decodes on trtllm_mha, not {s.decode}; drop --decode-attention-backend", "NVFP4 decode requires"),
        "No other backend reads it.",
        NVFP4_HOOK,
        since="0.5.22",
    ),
    Rule(
        "nvfp4.backends",
        (NVFP4,),
        Computes("decode trtllm_mha, prefill by the dtype", lambda r, s: {"prefill": PREFILL_FOR[_dtype(r, s)], "decode": "trtllm_mha"}),
        "One backend reads it in decode, one per dtype in prefill.",
        NVFP4_HOOK,
        since="0.5.22",
    ),
)

STEPS = (Step("NVFP4 backends", NVFP4_RULES),)
