"""Page sizes that backends force."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import any_field, base_or_decode
from tuner.engines.sglang.resolver.record import Condition, Rule, Step, sets

PAGES = "sglang/srt/arg_groups/overrides.py, _mla_backend_page_constraints"
PAGE_64 = sets(page_size=64)
TRTLLM_MHA = Condition("base, prefill or decode trtllm_mha", lambda r, s: "trtllm_mha" in (s.base, s.prefill, s.decode))

TRTLLM_MHA_OR_DRAFT = Condition(
    "base, prefill, decode or draft trtllm_mha", lambda r, s: "trtllm_mha" in (s.base, s.prefill, s.decode, s.draft)
)

CUTEDSL_MLA = any_field("cutedsl_mla")


def _page_outside(*sizes: int) -> Condition:
    listed = " or ".join(map(str, sizes))
    return Condition(f"page size other than {listed}", lambda r, s: s.page_size not in sizes)


RULES = (
    Rule(
        "compat.page-flashmla",
        (base_or_decode("flashmla"),),
        PAGE_64,
        "FlashMLA is built for pages of 64; prefill alone does not trigger it.",
        PAGES,
    ),
    Rule(
        "compat.page-cutlass-mla",
        (base_or_decode("cutlass_mla"),),
        sets(page_size=128),
        "CUTLASS MLA is built for pages of 128.",
        PAGES,
        until="0.5.16",
    ),
    Rule(
        "compat.page-trtllm-mla",
        (base_or_decode("trtllm_mla"), _page_outside(32, 64)),
        PAGE_64,
        "TensorRT-LLM MLA takes pages of 32 or 64.",
        PAGES,
    ),
    Rule(
        "compat.page-tokenspeed-mla",
        (base_or_decode("tokenspeed_mla"), _page_outside(32, 64)),
        PAGE_64,
        "tokenspeed_mla takes pages of 32 or 64.",
        PAGES,
        until="0.5.22",
    ),
    Rule("compat.page-cutedsl-mla", (CUTEDSL_MLA, _page_outside(32, 64)), PAGE_64, "CuTe DSL MLA takes pages of 32 or 64.", PAGES),
    Rule(
        "compat.page-trtllm-mha-old",
        (TRTLLM_MHA, _page_outside(16, 32, 64)),
        PAGE_64,
        "TensorRT-LLM MHA took pages of 16, 32 or 64.",
        PAGES,
        until="0.5.16",
    ),
    Rule(
        "compat.page-trtllm-mha",
        (TRTLLM_MHA_OR_DRAFT, _page_outside(16, 32, 64, 128)),
        PAGE_64,
        "TensorRT-LLM MHA takes pages of 16, 32, 64 or 128, and the draft shares the server's page size.",
        PAGES,
        since="0.5.22",
    ),
    Rule("compat.page-hpc-ops", (any_field("hpc_ops"), _page_outside(64)), PAGE_64, "HPC-Ops takes pages of 64.", PAGES, since="0.5.22"),
)

STEPS = (Step("page sizes of backends", RULES),)
