"""What vLLM reads from a checkpoint and a scenario's geometry does not hold, by the architecture's name."""

from __future__ import annotations

from collections.abc import Iterable

from backends.families import INDEXED
from backends.model import LayerKind, Model

# Images are attended to in both directions (vllm/transformers_utils/model_arch_config_convertor.py, is_mm_prefix_lm): checkpoints of
# these architectures; served as text alone they are not.
PREFIXES = (
    *("BagelForConditionalGeneration", "Gemma3ForConditionalGeneration", "Molmo2ForConditionalGeneration"),
    *("Moondream3ForCausalLM", "PaliGemmaForConditionalGeneration"),
)


def fullest(kinds: Iterable[LayerKind]) -> LayerKind:
    """The kind with most layers, the first of equals: whose head size stands for the model's where vLLM asks for one."""
    return max(kinds, key=lambda kind: kind.layers)


def sees_prefixes(model: Model) -> bool:
    return model.architecture in PREFIXES


def indexed(model: Model) -> bool:
    """Whether its layers attend to keys that an index chooses."""
    return model.architecture in INDEXED
