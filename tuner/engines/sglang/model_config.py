"""A model as the config.json that SGLang reads: the checkpoint's own, or one made of a preset's geometry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from backends.model import Attention, Model
from backends.sglang.asked.plain import PLAIN
from tuner.engines.sglang.request import SERVED_AS, SPARSE

Config = dict[str, Any]

INDEXED: Config = {"index_topk": 2048, "index_head_dim": 128, "index_n_heads": 64}
LATENT_HEAD: Config = {"qk_nope_head_dim": 128, "v_head_dim": 128}  # of the latent models that were read; no rule looks at them
DRAFT: Config = {"architectures": ["LlamaForCausalLMEagle"], "num_hidden_layers": 2}

# Not here: the code of a checkpoint. Not in a simulation: quantization, whose methods are registered as the real machine has them.
OF_THE_CHECKPOINT = frozenset({"auto_map"})
OF_THE_MACHINE = frozenset({"quantization_config", "compression_config"})


def config_of(model: Model) -> Config:
    """A small Llama's under the architecture's name, with the attributes that argument resolution reads."""
    heads = _latent(model) if model.attention is Attention.MLA else _plain(model)
    return {
        **PLAIN,
        "architectures": [SERVED_AS.get(model.architecture, model.architecture)],
        "num_hidden_layers": model.attention_layers,
        "torch_dtype": model.dtype,
        **_sizes(model),
        **heads,
        **(INDEXED if model.architecture in SPARSE else {}),
        **dict(_windows(model)),
        **dict(_sinks(model)),
    }


def draft_of(model: Model) -> Config:
    """A draft checkpoint beside ``model``, which names none."""
    return {**PLAIN, **DRAFT, **_sizes(model)}


def readable(config: Mapping[str, Any], simulated: bool) -> Config:
    """A checkpoint's own configuration without what cannot be read apart from its folder, or from the machine it is served on."""
    dropped = OF_THE_CHECKPOINT | (OF_THE_MACHINE if simulated else frozenset())
    return {
        name: readable(value, simulated) if isinstance(value, Mapping) else value for name, value in config.items() if name not in dropped
    }


def _sizes(model: Model) -> Config:
    """Of a Llama, whose configuration takes no hidden size that its heads do not divide."""
    heads = model.layers[0].query_heads
    return {
        "hidden_size": model.hidden_size // heads * heads or heads,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "vocab_size": model.vocab_size,
        "max_position_embeddings": model.context_length,
    }


def _plain(model: Model) -> Config:
    first = model.layers[0]
    heads = {"num_key_value_heads": first.kv_heads, "head_dim": first.head_dim}
    return {**heads, **({"v_head_dim": first.value_head_dim} if first.value_head_dim != first.head_dim else {})}


def _latent(model: Model) -> Config:
    """The absorbed head is the latent vector and the rotated part of a key beside it."""
    first = model.layers[0]
    return {
        **LATENT_HEAD,
        "kv_lora_rank": first.value_head_dim,
        "qk_rope_head_dim": first.head_dim - first.value_head_dim,
    }


def _windows(model: Model) -> Iterator[tuple[str, Any]]:
    """Windows first: a preset does not say in which order its layers come, and no rule asks."""
    sizes = [kind.sliding_window for kind in model.layers if kind.sliding_window is not None]
    if sizes:
        windowed = sum(kind.layers for kind in model.layers if kind.sliding_window is not None)
        full = model.attention_layers - windowed
        yield "sliding_window", sizes[0]
        yield "layer_types", ["sliding_attention"] * windowed + ["full_attention"] * full
        yield "hybrid_layer_pattern", [1] * windowed + [0] * full


def _sinks(model: Model) -> Iterator[tuple[str, Any]]:
    """Under the names of MiMo-V2 and of the others (sglang/srt/configs/model_config.py, _detect_attention_sinks)."""
    if model.sinks:
        yield "learnable_sink", True
        yield "add_swa_attention_sink_bias", any(kind.sinks and kind.sliding_window is not None for kind in model.layers)
        yield "add_full_attention_sink_bias", any(kind.sinks and kind.sliding_window is None for kind in model.layers)
