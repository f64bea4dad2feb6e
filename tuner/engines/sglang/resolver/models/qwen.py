"""Qwen's hybrids and its vision models."""

from __future__ import annotations

from tuner.engines.sglang.resolver import default_tree, reasons
from tuner.engines.sglang.resolver.conditions import BASE_UNSET, PAGE_UNSET, SM100, architecture, variable
from tuner.engines.sglang.resolver.models.minicpm import SPARSE_BLOCKS
from tuner.engines.sglang.resolver.record import Condition, Rule, Settings, Step, sets
from tuner.engines.sglang.resolver.request import Request

MO = "sglang/srt/arg_groups/model_overrides"
QWEN = f"{MO}/qwen3_5.py, _qwen3_5_hybrid_overrides"
QSA = f"{MO}/qwen4_exp.py, _qwen4_exp_overrides"

QWEN3_5 = architecture(
    "Qwen3NextForCausalLM",
    "Qwen3_5MoeForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration",
    "InternS2MobiusForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration",
)

QWEN4 = architecture("Qwen4ExpForConditionalGeneration")
QWEN3_VL = architecture("Qwen3VLForConditionalGeneration")

MOBIUS_16 = Condition(
    "not Intern-S2-Mobius before 0.5.22",
    lambda r, s: r.version != "0.5.16" or r.model.architecture != "InternS2MobiusForConditionalGeneration",
)


def tree_says(request: Request, settings: Settings) -> str:
    """The default tree's answer to the settings so far (sglang, get_default_attn_backend asked by a model's own rule)."""
    rules = (rule for rule in default_tree.RULES if rule.applies_to(request.version) and rule.holds(request, settings))
    return str(dict(next(rules).then.values)["base"])  # type: ignore[union-attr, arg-type]


TREE_SAYS_TRTLLM = Condition("the tree would choose trtllm_mha", lambda r, s: tree_says(r, s) == "trtllm_mha")

STATES_FREE = Condition(
    "states snapshot, radix cache off, or speculation",
    lambda r, s: not s.radix_cache or s.mamba_strategy in ("extra_buffer", "extra_buffer_lazy") or s.algorithm is not None,
)

QWEN_RULES = (
    Rule(
        "qwen3.5.trtllm",
        (TREE_SAYS_TRTLLM, STATES_FREE),
        sets(base="trtllm_mha", page_size=64),
        "TensorRT-LLM needs pages, which cached states allow with snapshots or speculation only; a written page size is replaced.",
        QWEN,
        reason=reasons.QWEN3_5,
    ),
    Rule(
        "qwen3.5.triton",
        (),
        sets(base="triton", page_size=1),
        "Without snapshots the prefix cache of states works token by token; the user's page size is replaced.",
        QWEN,
    ),
)

QWEN4_RULES = (
    Rule("qwen4.trtllm", (TREE_SAYS_TRTLLM, STATES_FREE), sets(base="trtllm_mha", page_size=64), "As Qwen3.5.", QSA, since="0.5.22"),
    Rule("qwen4.triton", (), sets(base="triton", page_size=1), "As Qwen3.5.", QSA, since="0.5.22"),
)

QSA_PAGE = Rule(
    "qwen4.page",
    (QWEN4, SPARSE_BLOCKS),
    sets(page_size=64),
    "Its compressed index needs whole pages; the user's page size is replaced.",
    QSA,
    since="0.5.22",
)

VL_RULES = (
    Rule(
        "qwen3-vl.page",
        (
            architecture("Qwen3VLForConditionalGeneration"),
            PAGE_UNSET,
            Condition(
                "ROCm with SGLANG_USE_AITER_UNIFIED_ATTN",
                lambda r, s: r.machine.kind == "rocm" and variable("SGLANG_USE_AITER_UNIFIED_ATTN").holds(r, s),
            ),
        ),
        sets(page_size=16),
        "aiter's unified kernel takes pages of 16.",
        f"{MO}/qwen3_vl.py, _qwen3vl_overrides",
    ),
    Rule(
        "qwen3-vl.hopper",
        (
            architecture("Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"),
            Condition("Hopper with 60 GiB or more", lambda r, s: r.machine.hopper and (r.machine.memory_mib or 0) >= 60 * 1024),
            BASE_UNSET,
            Condition("decode unset", lambda r, s: s.decode is None),
        ),
        sets(decode="flashinfer"),
        "A profile of Qwen3-VL on large Hopper GPUs decodes with FlashInfer and prefills with the default.",
        f"{MO}/qwen3_vl.py, _qwen3vl_hopper_serving_overrides",
        since="0.5.22",
        reason=reasons.QWEN3_VL,
    ),
)

STEPS = (
    Step("Qwen3.5", QWEN_RULES, first=True, when=(QWEN3_5, MOBIUS_16, SM100, BASE_UNSET)),
    Step("Qwen4-Exp", QWEN4_RULES, first=True, when=(QWEN4, SM100, BASE_UNSET)),
    Step("Qwen4-Exp pages", (QSA_PAGE,)),
    Step("Qwen3-VL", VL_RULES),
)
