"""Multi-head latent attention, absorbed: one KV head of the latent and the rotary part, of which the latent is the value too."""

from __future__ import annotations

from backends.model import LayerKind
from tuner.hf.fields import Config, count, flag, needed
from tuner.hf.scores import latent_scale

# kv_lora_rank means something else, or nothing, in these.
NOT_LATENT = ("DeepseekV4ForCausalLM",)


def is_latent(config: Config, architecture: str) -> bool:
    return count(config, "kv_lora_rank") not in (None, 0) and flag(config, "use_mla") is not False and architecture not in NOT_LATENT


def latent_kind(config: Config, layers: int) -> LayerKind:
    """``layers`` of them. The scale is that of the heads before they were absorbed."""
    latent = needed(config, "kv_lora_rank")
    rope = 0 if flag(config, "use_mla_nope") else count(config, "qk_rope_head_dim") or 0
    width = needed(config, "qk_nope_head_dim") + rope
    return LayerKind("full", layers, needed(config, "num_attention_heads"), 1, latent + rope, latent, scale=latent_scale(config, width))
