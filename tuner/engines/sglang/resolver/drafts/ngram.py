"""NGRAM, which drafts from the text so far."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_DP, CPU, OVERLAP, algorithm, no
from tuner.engines.sglang.resolver.drafts.eagle import PAGES, STEPS_UNSET, TREE
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/speculative_hook.py"
NGRAM = f"{HOOK}, _handle_ngram"

NGRAM_RULES = (
    Rule(
        "ngram.device-old",
        (no(Condition("CUDA, ROCm or CPU", lambda r, s: r.machine.kind in ("cuda", "rocm", "cpu"))),),
        Refuses("NGRAM drafts on CUDA devices and CPUs only; drop --speculative-algorithm", "Ngram speculative decoding only supports"),
        "Its kernels are written for these.",
        NGRAM,
        until="0.5.16",
    ),
    Rule(
        "ngram.device",
        (no(Condition("CUDA, ROCm, CPU or XPU", lambda r, s: r.machine.kind in ("cuda", "rocm", "cpu", "xpu"))),),
        Refuses(
            "NGRAM drafts on CUDA devices, CPUs and XPUs only; drop --speculative-algorithm", "Ngram speculative decoding only supports"
        ),
        "Its kernels are written for these.",
        NGRAM,
        since="0.5.22",
    ),
    Rule(
        "ngram.cpu-overlap",
        (CPU, OVERLAP),
        sets(overlap=False),
        "Drafting and scheduling do not overlap on a CPU.",
        f"{HOOK}, _disable_overlap_schedule_for_cpu",
    ),
    Rule(
        "ngram.width",
        (),
        Computes("topk is the breadth of the search", lambda r, s: {"topk": r.draft.ngram_breadth}),
        "The draft is a tree as wide as the search (10 where nothing is written), whatever topk says.",
        NGRAM,
    ),
    Rule(
        "ngram.tokens",
        (Condition("draft tokens unset", lambda r, s: s.draft_tokens is None),),
        sets(draft_tokens=12),
        "A tree of 12 tokens where nothing is written.",
        NGRAM,
    ),
    Rule(
        "ngram.steps",
        (STEPS_UNSET,),
        Computes("draft tokens / topk steps", lambda r, s: {"steps": (s.draft_tokens or 0) // (s.topk or 1)}),
        "As deep as the tokens allow.",
        NGRAM,
    ),
    Rule(
        "ngram.pages",
        (TREE, PAGES, Condition("base not flashinfer", lambda r, s: s.base != "flashinfer")),
        Refuses(
            "{s.base} takes no NGRAM tree (topk {s.topk}) with page size {s.page_size}; set --page-size 1 or choose flashinfer",
            "is unstable and produces incorrect results",
        ),
        "Only FlashInfer reads trees over pages right.",
        NGRAM,
    ),
    Rule(
        "ngram.dp",
        (ATTN_DP,),
        Refuses("NGRAM takes no attention data parallelism; drop one", "ngram speculative decoding does not support dp attention"),
        "Its tables are one a server.",
        NGRAM,
    ),
)

STEPS = (Step("NGRAM drafts", NGRAM_RULES, when=(algorithm("NGRAM"),)),)
