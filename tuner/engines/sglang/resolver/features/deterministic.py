"""`--enable-deterministic-inference`: before the default is chosen, so that it replaces the tree."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import BASE_UNSET, DETERMINISTIC, SM100, SM120, architecture, either
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

PASS = "sglang/srt/arg_groups/overrides.py, _deterministic_attention_backend"
HOOK = "sglang/srt/arg_groups/attention_hook.py, handle_deterministic_inference"

DEEPSEEK = (
    *("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "MistralLarge3ForCausalLM"),
    *("PixtralForConditionalGeneration", "GlmMoeDsaForCausalLM"),
)

SHARES_PREFIXES = ("ascend", "fa3", "fa4", "triton")
ALLOWED = (*SHARES_PREFIXES, "flashinfer")
NEW = either(SM100, SM120)
FA3_MLA = ("fa3", "triton")


def _base_outside(*names: str) -> Condition:
    return Condition(f"base other than {' or '.join(names)}", lambda r, s: s.base not in names)


FILL = (
    Rule(
        "deterministic.deepseek",
        (NEW, architecture(*DEEPSEEK)),
        sets(base="triton"),
        "FlashInfer is not deterministic for DeepSeek models.",
        PASS,
        until="0.5.16",
    ),
    Rule(
        "deterministic.deepseek-glm-lite",
        (NEW, architecture(*DEEPSEEK, "Glm4MoeLiteForCausalLM")),
        sets(base="triton"),
        "FlashInfer is not deterministic for DeepSeek models.",
        PASS,
        since="0.5.22",
    ),
    Rule("deterministic.blackwell", (NEW,), sets(base="flashinfer"), "FlashInfer's fixed splits are deterministic on Blackwell.", PASS),
    Rule("deterministic.other", (), sets(base="fa3"), "fa3 with one split is deterministic; also chosen where fa3 cannot run.", PASS),
)

CHECKS = (
    Rule(
        "deterministic.refused-old",
        (_base_outside(*ALLOWED),),
        Refuses(
            "{s.base} is not deterministic; set --attention-backend to one of ascend, fa3, fa4, flashinfer, triton",
            "but you explicitly specified",
        ),
        "Only these have a fixed order of summation; the split flags are not looked at.",
        PASS,
        until="0.5.16",
    ),
    Rule(
        "deterministic.refused",
        (_base_outside(*ALLOWED, "intel_xpu"),),
        Refuses(
            "{s.base} is not deterministic; set --attention-backend to one of ascend, fa3, fa4, flashinfer, intel_xpu, triton",
            "but you explicitly specified",
        ),
        "Only these have a fixed order of summation; the split flags are not looked at.",
        PASS,
        since="0.5.22",
    ),
    Rule(
        "deterministic.mla-old",
        (architecture(*DEEPSEEK), _base_outside(*FA3_MLA)),
        Refuses(
            "{s.base} is not deterministic for DeepSeek models; set --attention-backend to fa3 or triton",
            "for deterministic inference with DeepSeek models",
        ),
        "Absorbed MLA is deterministic in these only.",
        HOOK,
        until="0.5.16",
    ),
    Rule(
        "deterministic.mla",
        (architecture(*DEEPSEEK, "Glm4MoeLiteForCausalLM", "Glm5NextForConditionalGeneration"), _base_outside(*SHARES_PREFIXES)),
        Refuses(
            "{s.base} is not deterministic with absorbed MLA; set --attention-backend to ascend, fa3, fa4 or triton",
            "with absorbed-MLA models",
        ),
        "Absorbed MLA is deterministic in these only.",
        HOOK,
        since="0.5.22",
    ),
    Rule(
        "deterministic.mla-fa4",
        (
            architecture(*DEEPSEEK, "Glm4MoeLiteForCausalLM", "Glm5NextForConditionalGeneration"),
            Condition("base fa4 off SM100 and SM110", lambda r, s: s.base == "fa4" and not r.machine.sm100_or_sm110),
        ),
        Refuses(
            "fa4 is deterministic with absorbed MLA on SM100 and SM110 only; set --attention-backend to fa3 or triton",
            "requires SM100/SM110",
        ),
        "Only there has fa4 the kernel for absorbed MLA.",
        HOOK,
        since="0.5.22",
    ),
    Rule(
        "deterministic.no-prefixes",
        (_base_outside(*SHARES_PREFIXES),),
        sets(radix_cache=False),
        "A reused prefix changes the order of summation in these backends.",
        HOOK,
    ),
)

STEPS = (
    Step("deterministic default", FILL, first=True, when=(DETERMINISTIC, BASE_UNSET)),
    Step("deterministic checks", CHECKS, when=(DETERMINISTIC,)),
)
