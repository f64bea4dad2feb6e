"""Kimi-K3."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import DCP, FLASHINFER, ROCM, SM100, UNSET, algorithm, architecture, no
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Settings, Step, sets
from tuner.engines.sglang.resolver.request import Request

K3 = "sglang/srt/arg_groups/model_overrides/kimi_k3.py, _kimi_k3_overrides"
K3_GPU = Condition("SM100 or SM103", lambda r, s: r.machine.sm100 and r.machine.sm in (100, 103))
DSPARK = algorithm("DSPARK")


def _verifies(request: Request, settings: Settings) -> bool:
    """Whether the decode backend can serve the verify step (sglang, _dspark_verify_on_decode_backend)."""
    backend = "trtllm_mla" if settings.unset else settings.decode_side
    width = settings.draft_tokens or 8
    if backend == "tokenspeed_mla":
        return request.version != "0.5.23" and settings.kv_dtype == "fp8_e4m3" and width <= 8
    return backend in ("trtllm_mla", "cutedsl_mla")


CUTEDSL_OR_UNSET = Condition("decode cutedsl_mla or unset", lambda r, s: s.decode_side in (None, "cutedsl_mla"))
DECODES_AITER = Condition("decode aiter", lambda r, s: s.decode_side == "aiter")

K3_SPLIT = (
    Rule(
        "kimi-k3.split-verify",
        (DSPARK,),
        sets(verify_side="decode"),
        "Only the decode kernel knows a context split over ranks.",
        K3,
        since="0.5.22",
    ),
    Rule(
        "kimi-k3.split-old-flashinfer",
        (CUTEDSL_OR_UNSET, no(FLASHINFER)),
        Refuses("Kimi-K3 with --dcp-size {r.dcp} needs FlashInfer 0.6.17 or newer; install it", "requires FlashInfer 0.6.17 or newer"),
        "Its MLA decode merges the ranks' parts.",
        K3,
        since="0.5.22",
    ),
    Rule(
        "kimi-k3.split-cutedsl",
        (CUTEDSL_OR_UNSET,),
        sets(prefill="trtllm_mla", decode="cutedsl_mla"),
        "cutedsl_mla's decode merges the ranks' parts, and its sister prefills.",
        K3,
        since="0.5.22",
    ),
    Rule(
        "kimi-k3.split-tokenspeed",
        (Condition("decode tokenspeed_mla", lambda r, s: s.decode_side == "tokenspeed_mla"),),
        sets(prefill="tokenspeed_mla", decode="tokenspeed_mla", kv_dtype="fp8_e4m3"),
        "It serves both phases, with FP8.",
        K3,
        since="0.5.22",
        until="0.5.22",
    ),
    Rule(
        "kimi-k3.split-aiter-kernel",
        (DECODES_AITER, no(ROCM)),
        Refuses("Kimi-K3 with --dcp-size {r.dcp} decodes on aiter on ROCm only; choose cutedsl_mla", "requires the aiter gluon mla kernel"),
        "Its Gluon MLA kernel merges the ranks' parts.",
        K3,
        since="0.5.22",
    ),
    Rule(
        "kimi-k3.split-aiter",
        (DECODES_AITER,),
        Computes(
            "decode aiter, prefill triton where asked for, else aiter",
            lambda r, s: {"prefill": "triton" if s.prefill_side == "triton" else "aiter", "decode": "aiter"},
        ),
        "Its Gluon MLA kernel merges the ranks' parts.",
        K3,
        since="0.5.22",
    ),
    Rule(
        "kimi-k3.split-refused",
        (Condition("another decode backend", lambda r, s: s.decode_side not in (None, "cutedsl_mla", "tokenspeed_mla", "aiter")),),
        Refuses(
            "Kimi-K3 with --dcp-size {r.dcp} decodes on cutedsl_mla, tokenspeed_mla (before 0.5.23) or aiter, not {s.decode_side}",
            "Decode attention backend for Kimi-K3 DCP must be",
        ),
        "No other kernel merges the ranks' parts.",
        K3,
        since="0.5.22",
    ),
)

K3_WHOLE = (
    Rule(
        "kimi-k3.verify",
        (DSPARK, Condition("decode can verify", _verifies)),
        sets(verify_side="decode"),
        "FlashInfer's plan on the host would stall each verify.",
        K3,
        since="0.5.22",
    ),
    Rule(
        "kimi-k3.trtllm",
        (UNSET,),
        sets(prefill="trtllm_mla", decode="trtllm_mla"),
        "TensorRT-LLM's MLA kernels are preferred on SM100.",
        K3,
        since="0.5.22",
    ),
)

K3_DRAFT = Rule(
    "kimi-k3.draft",
    (
        architecture("KimiLinearForCausalLM", "KimiK3ForConditionalGeneration"),
        DSPARK,
        Condition("draft backend unset", lambda r, s: s.draft is None),
        SM100,
    ),
    sets(draft="trtllm_mha"),
    "The draft is dense, and FlashInfer's plan on the host would stall each step.",
    "sglang/srt/arg_groups/kimi_k3_hook.py, apply_kimi_k3_spec_backend_defaults",
    since="0.5.22",
)

KIMI_K3 = architecture("KimiK3ForConditionalGeneration")
STEPS = (
    Step("Kimi-K3 split over ranks", K3_SPLIT, when=(KIMI_K3, DCP)),
    Step("Kimi-K3", K3_WHOLE, when=(KIMI_K3, no(DCP), K3_GPU)),
    Step("Kimi drafts", (K3_DRAFT,)),
)
