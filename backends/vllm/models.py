"""What vLLM reads from a checkpoint and a scenario's geometry does not hold, by the architecture's name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backends.families import INDEXED
from backends.model import LayerKind, Model

# Images are attended to in both directions (vllm/transformers_utils/model_arch_config_convertor.py, is_mm_prefix_lm): checkpoints of
# these architectures; served as text alone they are not.
PREFIXES = (
    *("BagelForConditionalGeneration", "Gemma3ForConditionalGeneration", "Molmo2ForConditionalGeneration"),
    *("Moondream3ForCausalLM", "PaliGemmaForConditionalGeneration"),
)


@dataclass(frozen=True)
class Latent:
    """Widths of a latent checkpoint beside its absorbed head: ``nope`` of the part of K without positions, ``value`` of V before it is
    absorbed. ``index_topk`` keys are chosen by its own index."""

    nope: int
    value: int
    index_topk: int | None = None


# config.json of the checkpoints; one that is not listed is unknown.
AS_DEEPSEEK_V3 = (
    *("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "KimiK25ForConditionalGeneration", "KimiK3ForConditionalGeneration"),
    *("KimiLinearForCausalLM", "LongcatFlashForCausalLM"),
)
LATENT = {
    **dict.fromkeys(AS_DEEPSEEK_V3, Latent(128, 128)),
    "DeepseekV32ForCausalLM": Latent(128, 128, 2048),
    "GlmMoeDsaForCausalLM": Latent(192, 256, 2048),
}


def fullest(kinds: Iterable[LayerKind]) -> LayerKind:
    """The kind with most layers, the first of equals: whose head size stands for the model's where vLLM asks for one."""
    return max(kinds, key=lambda kind: kind.layers)


def sees_prefixes(model: Model) -> bool:
    return model.architecture in PREFIXES


def indexed(model: Model) -> bool:
    """Whether its layers attend to keys that an index chooses."""
    return model.architecture in INDEXED
