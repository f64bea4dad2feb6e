"""Sliding windows that SGLang does not apply: the classes it serves some architectures with attend over everything."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from backends.model import LayerKind, Model

# sglang/srt/models/llama.py, mistral.py, mixtral.py, phimoe.py, qwen2.py, qwen2_moe.py, qwen2_vl.py, qwen2_5_vl.py, qwen3.py,
# qwen3_moe.py, starcoder2.py (0.5.16 and 0.5.22): no window reaches their RadixAttention.
WINDOWLESS = (
    *("LlamaForCausalLM", "MistralForCausalLM", "MixtralForCausalLM", "Phi3ForCausalLM", "PhiMoEForCausalLM", "Starcoder2ForCausalLM"),
    *("Qwen2ForCausalLM", "Qwen2MoeForCausalLM", "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration"),
    *("Qwen3ForCausalLM", "Qwen3MoeForCausalLM"),
)


def served_model(model: Model) -> Model:
    """The model as SGLang serves it. Layer kinds that differ in the window alone become one."""
    if window_note(model) is None:
        return model
    counted: Counter[LayerKind] = Counter()
    for kind in model.layers:
        counted[replace(kind, name="full", layers=1, sliding_window=None)] += kind.layers
    kinds = [replace(kind, layers=layers) for kind, layers in counted.items()]
    named = [replace(kind, name=f"full-{index + 1}" if index else "full") for index, kind in enumerate(kinds)]
    return replace(model, layers=tuple(named))


def window_note(model: Model) -> str | None:
    """The sentence for a plan, None where every window is applied."""
    windows = [kind for kind in model.layers if kind.sliding_window is not None]
    if not windows or model.architecture not in WINDOWLESS:
        return None
    layers, size = sum(kind.layers for kind in windows), windows[0].sliding_window
    return f"SGLang serves {model.architecture} without its sliding window of {size}: its {layers} layers are planned as full attention"
