"""How many parameters a model has, and how many of them a token meets: an estimate from its geometry, norms and biases left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from backends.model import LayerKind
from tuner.hf.experts import Experts, experts_of, is_sparse
from tuner.hf.fields import Config, count, flag, items, needed, number, part
from tuner.hf.latent import is_latent
from tuner.hf.layer import Layer

# Two matrices instead of three: no gate.
UNGATED = (
    *("gpt2", "gpt_neo", "gpt_neox", "gptj", "gpt_bigcode", "codegen", "bloom", "falcon", "mpt", "opt"),
    *("phi", "phi-msft", "persimmon", "starcoder2", "nemotron", "nemotron_h"),
)
USUAL_EXPANSION = 4  # of the hidden size, where the class writes no width
MIXER_MATRICES = 4  # of hidden x hidden: a guess for linear attention and convolutions
MAMBA_MATRICES = 3  # the same, times the expansion
NAS_STEP = 256


@dataclass(frozen=True)
class Parameters:
    """``attention`` and ``embedding`` are parts of ``total``; ``active`` is what one token meets, embeddings included."""

    total: float
    active: float
    attention: float
    embedding: float


def parameters_of(config: Config, architecture: str, layers: Sequence[Layer], kinds: Sequence[LayerKind]) -> Parameters:
    hidden, experts = needed(config, "hidden_size"), experts_of(config)
    attention = _latent(config) * kinds[0].layers if is_latent(config, architecture) else sum(_plain(kind, hidden) for kind in kinds)
    mixers = sum(layer in (Layer.MIXER, Layer.BOTH) for layer in layers) * _mixer(config)
    with_mlp = layers_with_mlp(layers)
    sparse = [index for index in with_mlp if experts and is_sparse(config, index)]
    dense = sum(_mlp(config, _dense_width(config, index)) for index in with_mlp if index not in sparse)
    base = attention + mixers + _embedding(config) + dense
    total, active = (len(sparse) * _experts(config, experts, number) for number in ((experts.total, experts.active) if experts else (0, 0)))
    return Parameters(float(base + total), float(base + active), float(attention), float(_embedding(config)))


def layers_with_mlp(layers: Sequence[Layer]) -> list[int]:
    """All of them, except where a model writes MLPs as layers of their own."""
    own = [index for index, layer in enumerate(layers) if layer is Layer.MLP]
    return own or list(range(len(layers)))


def _plain(kind: LayerKind, hidden: int) -> int:
    return kind.layers * hidden * (kind.query_heads + kind.kv_heads) * (kind.head_dim + kind.value_head_dim)


def _latent(config: Config) -> int:
    """Down and up projections of queries and of the latent, and the output's."""
    hidden, heads, latent = (needed(config, name) for name in ("hidden_size", "num_attention_heads", "kv_lora_rank"))
    rope, nope = count(config, "qk_rope_head_dim") or 0, needed(config, "qk_nope_head_dim")
    value = count(config, "v_head_dim", 1) or nope
    down = count(config, "q_lora_rank", 1)
    queries = heads * (nope + rope) * (down or hidden) + hidden * (down or 0)
    return queries + hidden * (latent + rope) + latent * heads * (nope + value) + heads * value * hidden


def _mixer(config: Config) -> int:
    expansion = count(config, "mamba_expand", 1) or count(config, "expand", 1)
    return needed(config, "hidden_size") ** 2 * (MAMBA_MATRICES * expansion if expansion else MIXER_MATRICES)


def _dense_width(config: Config, index: int) -> int:
    width = _block_width(config, index) or count(config, "intermediate_size_mlp", 1) or count(config, "intermediate_size", 1)
    return USUAL_EXPANSION * needed(config, "hidden_size") if width is None else width


def _block_width(config: Config, index: int) -> int | None:
    """Nemotron-NAS: a factor a block, of two thirds of the hidden size, rounded up."""
    blocks = items(config, "block_configs") or []
    block = blocks[index] if index < len(blocks) and isinstance(blocks[index], dict) else {}
    factor = number(part(block, "ffn") or {}, "ffn_mult")
    return None if factor is None else ceil(int(2 * factor * needed(config, "hidden_size") / 3) / NAS_STEP) * NAS_STEP


def _mlp(config: Config, width: int) -> int:
    matrices = 2 if config.get("model_type") in UNGATED else 3
    return matrices * needed(config, "hidden_size") * width


def _experts(config: Config, experts: Experts | None, routed: int) -> int:
    """``routed`` of the experts, the MLP that every token meets, and the router."""
    if experts is None:
        return 0
    hidden = needed(config, "hidden_size")
    latent = count(config, "routed_expert_hidden_size", 1)  # some project tokens down for their experts
    one = _mlp(config, experts.width) * (latent or hidden) // hidden
    return routed * one + _mlp(config, experts.shared_width) + hidden * experts.total + (2 * hidden * latent if latent else 0)


def _embedding(config: Config) -> int:
    """One matrix where input and output share it, as transformers has it unless a configuration says otherwise."""
    tables = 2 if flag(config, "tie_word_embeddings") is False else 1
    per_layer = (count(config, "vocab_size_per_layer_input") or 0) * (count(config, "hidden_size_per_layer_input") or 0)
    return tables * needed(config, "vocab_size") * needed(config, "hidden_size") + per_layer * needed(config, "num_hidden_layers")
