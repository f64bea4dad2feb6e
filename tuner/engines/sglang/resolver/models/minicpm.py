"""MiniCPM with sparse or linear layers."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_DP, BLACKWELL, DISAGGREGATED, UNSET, architecture, no, variable
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Settings, Step, sets

MINICPM = "sglang/srt/arg_groups/model_overrides/minicpm.py, _minicpm_sala_overrides"
MINICPM_MODEL = architecture("MiniCPMForCausalLM", "MiniCPMSALAForCausalLM")
FORCED_DENSE = variable("SGLANG_MINICPM_FORCE_DENSE")
SPARSE_BLOCKS = Condition("sparse attention", lambda r, s: r.model.sparse_blocks)


def _dense(settings: Settings, machine_blackwell: bool) -> dict[str, str]:
    dense = {"minicpm_flashattn": "fa4" if machine_blackwell else "fa3", "minicpm_flashinfer": "flashinfer"}
    return {field: dense[name] for field in ("base", "prefill", "decode") if (name := getattr(settings, field)) in dense}


MINICPM_RULES = (
    Rule(
        "minicpm.dp",
        (ATTN_DP,),
        Refuses("MiniCPM takes no attention data parallelism; drop --attn-dp-size", "MiniCPM does not support DP attention"),
        "Its attention heads are split over all ranks.",
        MINICPM,
        since="0.5.22",
    ),
    Rule(
        "minicpm.host-cache",
        (Condition("a hierarchical cache", lambda r, s: (r.model.sparse_blocks or r.model.lightning) and r.hierarchical_cache),),
        Refuses(
            "MiniCPM's sparse models take no hierarchical cache; drop --enable-hierarchical-cache", "does not support hierarchical cache"
        ),
        "Its block summaries are not copied to the host.",
        MINICPM,
        since="0.5.22",
    ),
    Rule(
        "minicpm.radix",
        (Condition("sparse or linear layers", lambda r, s: r.model.sparse_blocks or r.model.lightning),),
        sets(radix_cache=False),
        "Its block summaries are not shared between requests.",
        MINICPM,
        since="0.5.22",
    ),
    Rule(
        "minicpm.dense",
        (FORCED_DENSE, Condition("a sparse backend written", lambda r, s: bool(_dense(s, False)))),
        Computes("the dense backend of that name", lambda r, s: _dense(s, r.machine.blackwell)),
        "SGLANG_MINICPM_FORCE_DENSE asks for the dense kernels.",
        MINICPM,
        since="0.5.22",
    ),
    Rule(
        "minicpm.role",
        (
            SPARSE_BLOCKS,
            no(FORCED_DENSE),
            DISAGGREGATED,
            Condition(
                "sparse backends",
                lambda r, s: s.unset or not {"minicpm_flashattn", "minicpm_flashinfer"}.isdisjoint((s.base, s.prefill, s.decode)),
            ),
        ),
        Refuses("MiniCPM's sparse attention does not go with disaggregation; choose a dense backend", "does not support PD disaggregation"),
        "Its block summaries are not sent along.",
        MINICPM,
        since="0.5.22",
    ),
    Rule(
        "minicpm.blackwell",
        (SPARSE_BLOCKS, no(FORCED_DENSE), UNSET, BLACKWELL),
        sets(base="minicpm_flashinfer"),
        "The FlashInfer form runs on Blackwell.",
        MINICPM,
        since="0.5.22",
    ),
    Rule(
        "minicpm.other",
        (SPARSE_BLOCKS, no(FORCED_DENSE), UNSET, no(BLACKWELL)),
        sets(base="minicpm_flashattn"),
        "The FlashAttention form runs elsewhere.",
        MINICPM,
        since="0.5.22",
    ),
)

STEPS = (Step("MiniCPM", MINICPM_RULES, when=(MINICPM_MODEL,)),)
