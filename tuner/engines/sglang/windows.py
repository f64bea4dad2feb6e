"""Sliding windows as SGLang serves them: classes that do not apply them, and those whose KV lies in a pool of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from backends.model import LayerKind, Model
from store.scenario import Engine

# sglang/srt/models/llama.py, mistral.py, mixtral.py, phimoe.py, qwen2.py, qwen2_moe.py, qwen2_vl.py, qwen2_5_vl.py, qwen3.py,
# qwen3_moe.py, starcoder2.py (0.5.16 and 0.5.22): no window reaches their RadixAttention.
WINDOWLESS = (
    *("LlamaForCausalLM", "MistralForCausalLM", "MixtralForCausalLM", "Phi3ForCausalLM", "PhiMoEForCausalLM", "Starcoder2ForCausalLM"),
    *("Qwen2ForCausalLM", "Qwen2MoeForCausalLM", "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration"),
    *("Qwen3ForCausalLM", "Qwen3MoeForCausalLM"),
)

# sglang/srt/configs/model_config.py, is_hybrid_swa_model (0.5.16, 0.5.22 and 0.5.23 together); without DeepSeek-V4, whose pools
# are sized by a rule of their own. Gemma 2 and 3, OLMo and Exaone keep one pool for all layers (disable_hybrid_swa_memory).
WINDOW_POOLS = (
    *("GptOssForCausalLM", "GraniteSWAForCausalLM", "GraniteMoeSWAForCausalLM", "IQuestQ1ForCausalLM", "Llama4ForConditionalGeneration"),
    *("MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM", "Step3p5ForCausalLM", "Step3p7ForConditionalGeneration", "LagunaForCausalLM"),
    *("Gemma4ForCausalLM", "Gemma4ForConditionalGeneration", "Gemma4UnifiedForConditionalGeneration", "MellumForCausalLM"),
    *("MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration", "InklingForConditionalGeneration", "UnlimitedOCRForCausalLM"),
)
WINDOW_SHARE = 0.8  # sglang/srt/arg_groups/fields/schedule.py, swa_full_tokens_ratio
ONE_POOL_BESIDE_HOST = ("Step3p5ForCausalLM", "Step3p7ForConditionalGeneration")  # with a hierarchical cache
OWN_SHARES = {"InklingForConditionalGeneration": 0.1}  # sglang/srt/arg_groups/model_overrides/inkling.py


def window_pool_share(model: Model, engine: Engine) -> float:
    """Tokens that window layers have room for, for each token of the full layers' pool; 1 where all layers share one pool or
    all have a window. Holds while the radix cache is on: without it, bounded requests size the windows' pool.

    Source: sglang/srt/model_executor/pool_configurator.py, HybridSWAPoolConfigurator; sglang/srt/arg_groups/overrides.py,
    _step3p_overrides.
    """
    if not pooled_windows(model, engine):
        return 1.0
    return engine.swa_full_tokens_ratio or OWN_SHARES.get(model.architecture, WINDOW_SHARE)


def pooled_windows(model: Model, engine: Engine) -> bool:
    """Whether the layers with a window have a pool of their own beside that of the others."""
    windowed = [kind.sliding_window is not None for kind in model.layers]
    one_pool = engine.disable_hybrid_swa_memory or (engine.hierarchical_cache and model.architecture in ONE_POOL_BESIDE_HOST)
    return model.architecture in WINDOW_POOLS and any(windowed) and not all(windowed) and not one_pool


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
