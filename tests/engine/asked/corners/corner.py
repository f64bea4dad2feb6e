"""A corner of the space where rules meet: models, machines and flags to draw from, with some noise of other flags."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tuner.engines.sglang.resolver.request import Draft

NEWEST, OLDEST, NEW = "9", "0", "0.5.22"


@dataclass(frozen=True)
class Corner:
    """Empty ``models`` or ``machines`` = any. ``noise``: how often other flags are written, 1 = as often as blindly."""

    models: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    flags: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    noise: float = 0.15
    since: str = OLDEST
    until: str = NEWEST


def one(*names: str | None) -> dict[str, tuple[Any, ...]]:
    return {"attention_backend": names}


SM100, HOPPER = ("b200", "b300"), ("h100", "h100-slice", "h100-plain")
BLACKWELL = (*SM100, "thor", "rtx-5090", "gb10")
NVIDIA = (*SM100, *HOPPER, "a100", "l40s", "rtx-5090")
MHA = ("LlamaForCausalLM", "Qwen3ForCausalLM", "llama-short", "llama-unequal")
MLA = ("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "Glm4MoeLiteForCausalLM", "KimiK25ForConditionalGeneration")
SPARSE = (
    *("DeepseekV3ForCausalLM-sparse", "DeepseekV32ForCausalLM-sparse", "GlmMoeDsaForCausalLM-sparse", "deepseek-kpool"),
    *("Dots3NoteForCausalLM-sparse", "Glm5NextForConditionalGeneration-sparse", "hyv4-sinks"),
)

HYBRID = (
    *(
        "Qwen3NextForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
        "InternS2PreviewForConditionalGeneration",
    ),
    *("InternS2MobiusForConditionalGeneration", "Qwen4ExpForConditionalGeneration", "qwen4-sparse", "FalconH1ForCausalLM"),
    *(
        "JetNemotronForCausalLM",
        "GraniteMoeHybridForCausalLM",
        "Lfm2ForCausalLM",
        "Lfm2MoeForCausalLM",
        "MiniCPMV4_6ForConditionalGeneration",
    ),
    *("MiniCPMV4_7ForConditionalGeneration", "NemotronHForCausalLM", "KimiLinearForCausalLM", "BailingMoeV2_5ForCausalLM"),
)

NEMOTRON = ("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "NemotronH_Omni_Reasoning_V3")
CHOOSY = (
    *("GptOssForCausalLM", "Llama4ForCausalLM", "Llama4ForConditionalGeneration", "Gemma4ForCausalLM", "Gemma4ForConditionalGeneration"),
    *(
        "Exaone4ForCausalLM",
        "ExaoneMoEForCausalLM",
        "ExaoneMoeForCausalLM",
        "Olmo2ForCausalLM",
        "Step3p5ForCausalLM",
        "MossVLForConditionalGeneration",
    ),
    *(
        "InklingForConditionalGeneration",
        "MiMoV2ForCausalLM",
        "MiMoV2FlashForCausalLM",
        "MiniMaxM3SparseForCausalLM",
        "EmbeddingGemma2Model",
    ),
    *("Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration", "DiffusionGemmaForBlockDiffusion", "BeamForCausalLM"),
    *("MuseSparkForConditionalGeneration", "IQuestQ1ForCausalLM"),
)

MINICPM = ("MiniCPMForCausalLM", "MiniCPMSALAForCausalLM", "minicpm-dense", "minicpm-linear")
MODEST = (None, None, "triton", "fa3", "fa4", "flashinfer", "trtllm_mha", "aiter", "torch_native")
FULL = {"topk": 1, "steps": 3, "draft_tokens": 4}


def drafts(*algorithms: str, **changes: Any) -> dict[str, tuple[Any, ...]]:
    return {"draft": tuple(Draft(algorithm, **changes) for algorithm in algorithms)}


def variables(**values: str) -> dict[str, tuple[Any, ...]]:
    return {"environment": (frozenset(values.items()),)}


PYTHON_TREE = variables(SGLANG_UNIFIED_RADIX_TREE_CORE_BACKEND="python")


def pair(prefill: tuple[str | None, ...], decode: tuple[str | None, ...]) -> dict[str, tuple[Any, ...]]:
    return {"prefill_attention_backend": prefill, "decode_attention_backend": decode}


FP4 = ("nvfp4", "nvfp4", "fp4_mx_block16", "mxfp8")
