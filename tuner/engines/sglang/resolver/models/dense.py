"""Models without recurrent layers that choose a backend by the machine."""

from __future__ import annotations

from tuner.engines.sglang.resolver import reasons
from tuner.engines.sglang.resolver.architectures import INKLING
from tuner.engines.sglang.resolver.conditions import BASE_UNSET, BLACKWELL, HOPPER, ROCM, SM80_UP, SM100, UNSET, XPU, architecture
from tuner.engines.sglang.resolver.record import Condition, Rule, Step, sets

MO = "sglang/srt/arg_groups/model_overrides"
TRTLLM, FA3, FA4, TRITON, AITER, XPU_BACKEND = (sets(base=name) for name in ("trtllm_mha", "fa3", "fa4", "triton", "aiter", "intel_xpu"))
EXAONE = architecture("Exaone4ForCausalLM", "ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM")
WINDOWED = Condition("a sliding-window pattern", lambda r, s: r.model.windowed)
GEMMA4_16 = ("Gemma4ForConditionalGeneration", "Gemma4ForCausalLM", "Gemma4UnifiedForConditionalGeneration")
GEMMA4 = architecture(*GEMMA4_16)
DIFFUSION = architecture("DiffusionGemmaForBlockDiffusion")
GPT_OSS = architecture("GptOssForCausalLM")
LLAMA4 = architecture("Llama4ForConditionalGeneration", "Llama4ForCausalLM")
OLMO2 = architecture("Olmo2ForCausalLM")

STEP3 = Condition(
    "Step3.5 or Step3.7",
    lambda r, s: "Step3p5ForCausalLM" in r.model.architecture or "Step3p7ForConditionalGeneration" in r.model.architecture,
)

NOT_CPU = Condition("not on a CPU", lambda r, s: r.machine.kind != "cpu")

EXAONE_RULES = (
    Rule(
        "exaone.sm100",
        (SM100,),
        TRTLLM,
        "Windowed EXAONE runs on SM100 through TensorRT-LLM.",
        f"{MO}/exaone.py, _exaone_overrides",
        since="0.5.22",
    ),
    Rule(
        "exaone.nvidia",
        (SM80_UP,),
        FA3,
        "Windowed EXAONE runs on fa3 elsewhere, also where fa3 is not fast.",
        f"{MO}/exaone.py, _exaone_overrides",
        since="0.5.22",
    ),
    Rule("exaone.other", (), TRITON, "Triton runs wherever the rest does not.", f"{MO}/exaone.py, _exaone_overrides", since="0.5.22"),
)

OLMO_WINDOWS = "With FlashInfer Olmo 3 lost several points of MMLU on its windows (sglang pull request 11396)."
OLMO_RULES = (
    Rule("olmo2.sm100", (SM100,), TRTLLM, OLMO_WINDOWS, f"{MO}/olmo2.py, _olmo2_overrides", reason=reasons.OLMO_SM100),
    Rule("olmo2.nvidia", (SM80_UP,), FA3, OLMO_WINDOWS, f"{MO}/olmo2.py, _olmo2_overrides", reason=reasons.OLMO),
    Rule("olmo2.other", (), TRITON, "Triton runs wherever the rest does not.", f"{MO}/olmo2.py, _olmo2_overrides"),
)

GEMMA_RULES = (
    Rule(
        "gemma4.diffusion",
        (DIFFUSION,),
        TRITON,
        "Block diffusion needs masks that Triton has.",
        f"{MO}/gemma4.py, _gemma4_overrides",
        since="0.5.22",
    ),
    Rule(
        "gemma4.sm100",
        (GEMMA4, SM100),
        TRTLLM,
        "TensorRT-LLM takes its wide heads on SM100.",
        f"{MO}/gemma4.py, _gemma4_overrides",
        reason=reasons.GEMMA4,
    ),
    Rule("gemma4.other", (GEMMA4,), TRITON, "Triton takes its wide heads; Hopper does not get fa3.", f"{MO}/gemma4.py, _gemma4_overrides"),
)

GPT_OSS_RULES = (
    Rule("gpt-oss.sm100", (SM100,), TRTLLM, "TensorRT-LLM takes its sinks.", f"{MO}/gpt_oss.py, _gpt_oss_overrides"),
    Rule("gpt-oss.hopper", (HOPPER,), FA3, "fa3 takes its sinks.", f"{MO}/gpt_oss.py, _gpt_oss_overrides"),
    Rule("gpt-oss.xpu", (XPU,), XPU_BACKEND, "The XPU's backend takes its sinks.", f"{MO}/gpt_oss.py, _gpt_oss_overrides"),
    Rule("gpt-oss.rocm", (ROCM,), AITER, "aiter takes its sinks.", f"{MO}/gpt_oss.py, _gpt_oss_overrides"),
    Rule("gpt-oss.other", (), TRITON, "Triton takes its sinks.", f"{MO}/gpt_oss.py, _gpt_oss_overrides"),
)

LLAMA4_RULES = (
    Rule("llama4.sm100", (SM100,), TRTLLM, "It takes Llama 4's chunked layers on SM100.", f"{MO}/llama4.py, _llama4_overrides"),
    Rule("llama4.hopper", (HOPPER,), FA3, "It takes Llama 4's chunked layers on Hopper.", f"{MO}/llama4.py, _llama4_overrides"),
    Rule("llama4.rocm", (ROCM,), AITER, "It takes Llama 4's chunked layers on ROCm.", f"{MO}/llama4.py, _llama4_overrides"),
    Rule("llama4.xpu", (XPU,), XPU_BACKEND, "It takes Llama 4's chunked layers on an XPU.", f"{MO}/llama4.py, _llama4_overrides"),
    Rule("llama4.other", (), TRITON, "Triton runs wherever the rest does not.", f"{MO}/llama4.py, _llama4_overrides"),
)

INKLING_RULES = (
    Rule(
        "inkling.hopper",
        (HOPPER,),
        FA4,
        "Inkling's biased scores need fa4 or triton.",
        f"{MO}/inkling.py, _inkling_overrides",
        since="0.5.22",
    ),
    Rule("inkling.sm100", (SM100,), FA4, "Inkling's biased scores need fa4 or triton.", f"{MO}/inkling.py, _inkling_overrides"),
    Rule("inkling.other", (), TRITON, "Inkling's biased scores need fa4 or triton.", f"{MO}/inkling.py, _inkling_overrides"),
)

STEP3_RULES = (
    Rule(
        "step3.blackwell",
        (BLACKWELL,),
        FA4,
        "fa4 is preferred for its heads on Blackwell.",
        "sglang/srt/arg_groups/overrides.py, _step3p_overrides",
    ),
    Rule(
        "step3.hopper", (HOPPER,), FA3, "fa3 is preferred for its heads on Hopper.", "sglang/srt/arg_groups/overrides.py, _step3p_overrides"
    ),
)

STEPS = (
    Step("EXAONE", EXAONE_RULES, first=True, when=(EXAONE, WINDOWED, BASE_UNSET)),
    Step("Olmo 2", OLMO_RULES, first=True, when=(OLMO2, BASE_UNSET)),
    Step("Gemma 4", GEMMA_RULES, first=True, when=(BASE_UNSET,)),
    Step("GPT-OSS", GPT_OSS_RULES, first=True, when=(GPT_OSS, UNSET)),
    Step("Llama 4", LLAMA4_RULES, first=True, when=(LLAMA4, BASE_UNSET, NOT_CPU)),
    Step("Inkling", INKLING_RULES, first=True, when=(architecture(*INKLING), UNSET)),
    Step("Step3", STEP3_RULES, first=True, when=(STEP3, UNSET)),
)
