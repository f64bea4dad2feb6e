"""One flat configuration of the language model: its part of a multimodal one, other classes' names for things, left-out defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tuner.errors import UsageError
from tuner.hf.defaults import BY_MODEL_TYPE
from tuner.hf.fields import Config, flag, items, part, text

# Where multimodal configurations keep their language model (sglang/srt/utils/hf_transformers/common.py, get_hf_text_config).
LANGUAGE_PARTS = ("thinker_config", "text_config", "llm_config", "language_config")
# Values of the whole that its language part may lack.
SHARED = ("torch_dtype", "dtype", "quantization_config", "tie_word_embeddings", "vocab_size")
# transformers' attribute maps, and the names of models that bring their own classes
SPELLINGS = {
    "hidden_size": ("n_embd", "d_model", "dim", "model_dim"),
    "num_hidden_layers": ("n_layer", "n_layers", "num_layers", "num_transformer_layers"),
    "num_attention_heads": ("n_head", "n_heads", "num_heads", "num_query_heads"),
    "num_key_value_heads": ("n_head_kv", "num_kv_heads", "kv_n_heads", "multi_query_group_num", "num_attention_groups"),
    "head_dim": ("kv_channels", "attention_head_dim"),
    "intermediate_size": ("ffn_hidden_size", "n_inner", "ffn_dim", "block_ff_dim"),
    "max_position_embeddings": ("n_positions",),
    "vocab_size": ("padded_vocab_size",),
    "layer_types": ("layers_block_type",),
    "sliding_window": ("sliding_window_size", "attention_window_size", "window_size"),
    "sliding_window_pattern": ("_sliding_window_pattern", "global_attn_every_n_layers"),
    "multi_query": ("multi_query_attention",),
    "num_experts": ("n_routed_experts", "num_local_experts", "moe_num_experts"),
    "num_experts_per_tok": ("moe_topk", "moe_k", "top_k_experts", "num_experts_per_token", "moe_top_k"),
    "n_shared_experts": ("num_shared_experts", "moe_num_shared_experts"),
    "shared_expert_intermediate_size": ("moe_shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"),
    "routed_expert_hidden_size": ("moe_latent_size",),
    "moe_intermediate_size": ("expert_ffn_hidden_size",),
}
INNER = ("kv_n_heads", "ffn_hidden_size", "moe_num_experts", "moe_top_k")
WITHOUT_ATTENTION = ("mamba", "mamba2", "falcon_mamba", "rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm")


@dataclass(frozen=True)
class Shape:
    """``config`` is flat and under transformers' usual names; ``filled`` names what came from its class's defaults."""

    config: dict[str, Any]
    architecture: str
    filled: tuple[str, ...]


def shape_of(whole: Config) -> Shape:
    """Raises `UsageError` for a model that attnpin cannot describe: no attention at all, or an encoder and a decoder."""
    language = language_part(whole)
    flat = {**{name: whole[name] for name in SHARED if name in whole}, **flattened(language)}
    spelt = {**_counted(flat), **_respelt(flat)}
    model_type = text(language, "model_type") or text(whole, "model_type") or ""
    _refuse_foreign(whole, model_type)
    defaults = {name: value for name, value in BY_MODEL_TYPE.get(model_type, {}).items() if spelt.get(name) is None and name not in spelt}
    filled = tuple(name for name in defaults if name not in ("sliding_window_pattern", "use_sliding_window", "max_window_layers"))
    return Shape({**defaults, **spelt, "model_type": model_type}, _architecture(whole, language), filled)


def language_part(whole: Config) -> Config:
    """The innermost language configuration, the whole where there is none."""
    for name in LANGUAGE_PARTS:
        if (inner := part(whole, name)) is not None:
            return language_part(inner)
    return whole


def flattened(config: Config) -> dict[str, Any]:
    """Dbrx and MPT keep their KV heads one level down, and Dbrx its experts."""
    inner = {**(part(config, "attn_config") or {}), **(part(config, "ffn_config") or {})}
    return {**{name: inner[name] for name in INNER if name in inner}, **config}


def _respelt(flat: Config) -> dict[str, Any]:
    """The usual name for each value that stands under another one alone."""
    return {
        name: next(flat[other] for other in others if flat.get(other) is not None)
        for name, others in SPELLINGS.items()
        if flat.get(name) is None and any(flat.get(other) is not None for other in others)
    }


def _counted(flat: Config) -> dict[str, Any]:
    """Newer Nemotron-H write down their layers and not how many they are."""
    listed = next((layers for name in ("layer_types", "layers_block_type") if (layers := items(flat, name))), None)
    named = any(flat.get(name) is not None for name in ("num_hidden_layers", *SPELLINGS["num_hidden_layers"]))
    return {**flat} if named or not listed else {**flat, "num_hidden_layers": len(listed)}


def _architecture(whole: Config, language: Config) -> str:
    for config in (whole, language):
        for name in items(config, "architectures") or ():
            if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or len(name) > 100:
                raise UsageError(f"architectures of config.json holds {name!r:.60}; it must name model classes")
            return name
    return "unknown"


def _refuse_foreign(whole: Config, model_type: str) -> None:
    if model_type in WITHOUT_ATTENTION:
        raise UsageError(f"a {model_type} model has no attention layers, so there is no attention backend to choose; serve it as it is")
    if flag(whole, "is_encoder_decoder"):
        raise UsageError(f"config.json describes an encoder and a decoder ({model_type}); attnpin plans models that only decode")
