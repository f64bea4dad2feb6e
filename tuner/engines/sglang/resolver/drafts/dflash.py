"""DFLASH, which fills a block at once."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_DP, PIPELINE, SM100, algorithm, no
from tuner.engines.sglang.resolver.drafts.eagle import NO_DRAFT_MODEL
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Settings, Step, sets
from tuner.engines.sglang.resolver.request import Request

HOOK = "sglang/srt/arg_groups/speculative_hook.py"
DFLASH = f"{HOOK}, _handle_dflash"
BACKEND = f"{HOOK}, _resolve_dflash_draft_attention_backend"
CUDA_DEVICE = Condition("CUDA or ROCm", lambda r, s: r.machine.kind in ("cuda", "rocm"))
OLD_BACKENDS = ("flashinfer", "fa3", "fa4", "triton", "ascend")
BACKENDS = (*OLD_BACKENDS, "trtllm_mha", "intel_xpu")


def _fallback(request: Request) -> str:
    return "triton" if request.machine.kind in ("rocm", "xpu") else "flashinfer"


def _old_fallback(request: Request) -> str:
    return "triton" if request.machine.kind == "rocm" else "flashinfer"


def _wanted(request: Request, settings: Settings) -> str | None:
    return settings.draft or settings.prefill_side


OFF_NPU = Condition("not an NPU", lambda r, s: r.machine.kind != "npu")

DFLASH_RULES = (
    Rule(
        "dflash.device-old",
        (no(CUDA_DEVICE),),
        Refuses("DFLASH drafts on CUDA devices only; drop --speculative-algorithm", "DFLASH speculative decoding only supports CUDA"),
        "Its kernels were written for these.",
        DFLASH,
        until="0.5.16",
    ),
    Rule(
        "dflash.device",
        (no(Condition("CUDA, ROCm, NPU or XPU", lambda r, s: r.machine.kind in ("cuda", "rocm", "npu", "xpu"))),),
        Refuses("DFLASH does not draft on this device; drop --speculative-algorithm", "DFLASH speculative decoding is not supported by"),
        "Its kernels are written for others.",
        DFLASH,
        since="0.5.22",
    ),
    Rule(
        "dflash.dp",
        (ATTN_DP, OFF_NPU),
        Refuses("DFLASH takes no attention data parallelism; drop one", "DFLASH speculative decoding does not support dp attention"),
        "Only the NPU's form was validated.",
        DFLASH,
        until="0.5.22",
    ),
    Rule(
        "dflash.dp-head",
        (ATTN_DP, OFF_NPU),
        Refuses("DFLASH with attention data parallelism needs --enable-dp-lm-head; add it", "DFLASH with dp attention requires"),
        "The draft borrows the target's head.",
        DFLASH,
        since="0.5.23",
    ),
    Rule(
        "dflash.pipeline",
        (PIPELINE,),
        Refuses("DFLASH takes no pipeline parallelism; drop --pp-size", "DFLASH speculative decoding only supports pp_size == 1"),
        "The draft reads the target's layers.",
        DFLASH,
    ),
    Rule(
        "dflash.model",
        (NO_DRAFT_MODEL,),
        Refuses(
            "DFLASH needs a draft checkpoint; name it with --speculative-draft-model-path", "DFLASH speculative decoding requires setting"
        ),
        "Its draft is a model of its own.",
        DFLASH,
    ),
    Rule(
        "dflash.block",
        (Condition("draft tokens unset", lambda r, s: s.draft_tokens is None),),
        sets(draft_tokens=16),
        "A block of 16 where neither the flag nor the draft's configuration says.",
        DFLASH,
    ),
    Rule("dflash.chain", (), sets(steps=1, topk=1), "A block is one step of one branch, whatever was written.", DFLASH),
)

DFLASH_BACKEND = (
    Rule(
        "dflash.backend-old",
        (Condition("a draft backend DFLASH lacks", lambda r, s: _wanted(r, s) not in OLD_BACKENDS),),
        Computes("flashinfer, or triton on ROCm", lambda r, s: {"draft": _old_fallback(r)}),
        "The draft needs attention per layer, which these have; no error is given.",
        BACKEND,
        until="0.5.16",
    ),
    Rule(
        "dflash.backend-unknown",
        (Condition("a draft backend DFLASH lacks", lambda r, s: _wanted(r, s) not in BACKENDS),),
        Computes("flashinfer, or triton on ROCm and XPU", lambda r, s: {"draft": _fallback(r)}),
        "The draft needs attention per layer, which these have; no error is given.",
        BACKEND,
        since="0.5.22",
    ),
    Rule(
        "dflash.trtllm-sm100",
        (
            Condition(
                "trtllm_mha with layers neither all causal nor all sliding",
                lambda r, s: _wanted(r, s) == "trtllm_mha" and not r.draft.causal,
            ),
            SM100,
        ),
        sets(draft="fa4"),
        "trtllm_mha serves causal or sliding drafts only; fa4 takes its place on SM100.",
        BACKEND,
        since="0.5.23",
    ),
    Rule(
        "dflash.trtllm",
        (
            Condition(
                "trtllm_mha with layers neither all causal nor all sliding",
                lambda r, s: _wanted(r, s) == "trtllm_mha" and not r.draft.causal,
            ),
        ),
        Computes("flashinfer, or triton on ROCm and XPU", lambda r, s: {"draft": _fallback(r)}),
        "trtllm_mha serves causal or sliding drafts only.",
        BACKEND,
        since="0.5.22",
    ),
    Rule(
        "dflash.backend",
        (),
        Computes("as written, else the target's prefill backend", lambda r, s: {"draft": _wanted(r, s)}),
        "One backend serves all modes of the draft.",
        BACKEND,
    ),
)

STEPS = (
    Step("DFLASH drafts", DFLASH_RULES, when=(algorithm("DFLASH"),)),
    Step("DFLASH draft backend", DFLASH_BACKEND, first=True, when=(algorithm("DFLASH"),)),
)
