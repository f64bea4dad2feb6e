"""Nemotron-H."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import BASE_UNSET, BLACKWELL, PAGE_UNSET, SM100, SPECULATION, UNSET, architecture, no
from tuner.engines.sglang.resolver.record import Condition, Rule, Step, sets

MO = "sglang/srt/arg_groups/model_overrides"
NEMOTRON = f"{MO}/nemotron_h.py, _nemotron_h_overrides"
NEMOTRON_16 = architecture("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM")
NEMOTRON_22 = architecture("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "NemotronH_Omni_Reasoning_V3")
TRITON, FLASHINFER = sets(base="triton"), sets(base="flashinfer")
ONE_BRANCH = Condition("topk unset or 1", lambda r, s: s.topk in (None, 1))
SM100_CHAIN = Condition("SM100 with a chain", lambda r, s: r.machine.sm100 and s.topk in (None, 1))
DRAFT_UNSET = Condition("--speculative-draft-attention-backend unset", lambda r, s: s.draft is None)


def _drafts(*names: str) -> Condition:
    return Condition(f"{' or '.join(names)} drafts", lambda r, s: (s.algorithm or "").upper() in names)


NEMOTRON_SPEC = (
    Rule(
        "nemotron.trtllm-page",
        (SM100, ONE_BRANCH, PAGE_UNSET),
        sets(page_size=64),
        "TensorRT-LLM MHA's page size.",
        NEMOTRON,
        since="0.5.22",
    ),
    Rule(
        "nemotron.trtllm-states",
        (SM100, ONE_BRANCH, Condition("--mamba-radix-cache-strategy auto", lambda r, s: s.mamba_strategy == "auto")),
        sets(mamba_strategy="extra_buffer"),
        "Pages and drafts need states that are snapshot.",
        NEMOTRON,
        since="0.5.22",
    ),
    Rule(
        "nemotron.trtllm-draft",
        (SM100, ONE_BRANCH, DRAFT_UNSET, _drafts("EAGLE", "NEXTN", "DSPARK")),
        sets(draft="trtllm_mha"),
        "The draft shares the target's pages.",
        NEMOTRON,
        since="0.5.22",
    ),
    Rule(
        "nemotron.other-draft",
        (
            no(SM100_CHAIN),
            DRAFT_UNSET,
            _drafts("EAGLE", "NEXTN", "DFLASH", "DSPARK"),
        ),
        sets(draft="flashinfer"),
        "The draft has no recurrent layers and need not run on Triton.",
        NEMOTRON,
        since="0.5.22",
    ),
    Rule(
        "nemotron.trtllm", (SM100, ONE_BRANCH), sets(base="trtllm_mha"), "TensorRT-LLM verifies chains on SM100.", NEMOTRON, since="0.5.22"
    ),
    Rule(
        "nemotron.triton",
        (no(SM100_CHAIN),),
        TRITON,
        "Triton verifies trees, and everything on SM12x.",
        NEMOTRON,
        since="0.5.22",
    ),
)

NEMOTRON_PLAIN = (
    Rule(
        "nemotron.sm100",
        (NEMOTRON_22, UNSET, SM100, no(SPECULATION)),
        sets(base="trtllm_mha"),
        "TensorRT-LLM is preferred on SM100.",
        NEMOTRON,
        since="0.5.22",
    ),
    Rule(
        "nemotron.sm100-old",
        (NEMOTRON_16, SM100, BASE_UNSET),
        FLASHINFER,
        "FlashInfer was preferred for hybrids on SM100.",
        NEMOTRON,
        until="0.5.16",
    ),
)

STEPS = (
    Step("Nemotron-H with drafts", NEMOTRON_SPEC, when=(NEMOTRON_22, BLACKWELL, UNSET, SPECULATION)),
    Step("Nemotron-H", NEMOTRON_PLAIN),
)
