"""What a model does to attention's scores: their scale, a soft cap, learned sinks."""

from __future__ import annotations

import math

from tuner.hf.fields import Config, count, flag, number, part

# Every layer of these has sinks (sglang/srt/configs/model_config.py, SWA_SINK_ARCHS).
SINKS = ("GptOssForCausalLM", "GraniteSWAForCausalLM", "GraniteMoeSWAForCausalLM", "IQuestQ1ForCausalLM")
# The scale is folded into the norm of the queries (transformers, modeling_gemma3n.py and modeling_gemma4.py).
UNSCALED = ("gemma3n", "gemma3n_text", "gemma4", "gemma4_text", "gemma4_unified_text")
ALIBI = ("bloom", "mpt")  # by their class, whatever the configuration says
GROK_CAP = 30.0  # sglang/srt/models/grok.py, where the configuration has none


def scale_of(config: Config, head_dim: int) -> float | None:
    """The model's own factor of the scores, None where it is head_dim ** -0.5."""
    if config.get("model_type") in UNSCALED:
        return 1.0
    if (factor := number(config, "attention_multiplier")) is not None:  # Granite
        return _unless_usual(factor, head_dim)
    if (scalar := number(config, "query_pre_attn_scalar")) is not None:  # Gemma 2 and 3
        return _unless_usual(scalar**-0.5, head_dim)
    return None


def _unless_usual(scale: float, head_dim: int) -> float | None:
    return None if math.isclose(scale, head_dim**-0.5) else scale


def latent_scale(config: Config, width: int) -> float:
    """Of heads of ``width`` = nope + rope, times yarn's correction.

    Source: sglang/srt/configs/model_config.py, compute_mla_mscale_scaling.
    """
    rope = part(config, "rope_parameters") or part(config, "rope_scaling") or {}
    kind = rope.get("rope_type") or rope.get("type") or "default"
    factor, all_dims = number(rope, "factor"), number(rope, "mscale_all_dim")
    if kind == "default" or factor is None or factor <= 1 or all_dims is None:
        return float(width**-0.5)
    return float(width**-0.5 * (0.1 * all_dims * math.log(factor) + 1) ** 2)


def soft_cap(config: Config, architecture: str) -> float | None:
    """At what the scores are capped by a tanh, None = not at all."""
    cap = number(config, "attn_logit_softcapping")
    return GROK_CAP if cap is None and architecture.startswith("Grok1") else cap


def has_sinks(config: Config, architecture: str, local: bool) -> bool:
    """Whether window layers (``local``) or full ones have a learned sink a head."""
    if architecture in SINKS or flag(config, "learnable_sink"):
        return True
    return bool(flag(config, "add_swa_attention_sink_bias" if local else "add_full_attention_sink_bias"))


def shares_kv(config: Config) -> int:
    """Layers that read the keys and values of earlier ones."""
    return count(config, "num_kv_shared_layers") or 0


def biased(config: Config) -> bool:
    """Whether ALiBi adds to the scores."""
    return config.get("model_type") in ALIBI or config.get("alibi") is True or config.get("position_embedding_type") == "alibi"
