"""What a layer does with a sequence, and the words that configurations have for it."""

from __future__ import annotations

from enum import Enum

from tuner.errors import UsageError


class Layer(Enum):
    FULL = "full"
    WINDOW = "window"
    CHUNK = "chunk"  # a query sees its own chunk of the sequence
    SPARSE = "sparse"  # an indexer chooses keys
    MIXER = "mixer"  # Mamba, linear attention, convolution
    BOTH = "both"  # attention and a mixer side by side
    NEITHER = "neither"  # no more than an MLP where others attend
    MLP = "mlp"  # an MLP that counts as a layer of its own


ATTENDING = (Layer.FULL, Layer.WINDOW, Layer.CHUNK, Layer.SPARSE, Layer.BOTH)
# transformers' layer types (configuration_utils.py, 5.19.0), its older ones, and those of models that bring their own code
WORDS = {
    "full_attention": Layer.FULL,
    "attention": Layer.FULL,
    "global": Layer.FULL,
    "sliding_attention": Layer.WINDOW,
    "local": Layer.WINDOW,
    "chunked_attention": Layer.CHUNK,
    **dict.fromkeys(("indexed_attention", "deepseek_sparse_attention", "qwen_sparse_attention", "minimax_m3_sparse"), Layer.SPARSE),
    **dict.fromkeys(("compressed_sparse_attention", "heavily_compressed_attention"), Layer.SPARSE),
    **dict.fromkeys(("linear_attention", "mamba", "mamba2", "conv", "recurrent"), Layer.MIXER),
    **dict.fromkeys(("hybrid", "hybrid_sliding", "parallel_hybrid"), Layer.BOTH),
    **dict.fromkeys(("moe", "mlp"), Layer.MLP),
}
LETTERS = {"*": Layer.FULL, "M": Layer.MIXER, "-": Layer.MLP, "E": Layer.MLP}  # Nemotron-H


def layer_named(name: object) -> Layer:
    if not isinstance(name, str) or name not in WORDS:
        raise UsageError(f"layer type {name!r:.60} of config.json is unknown to attnpin; set model.layers yourself")
    return WORDS[name]


def layers_lettered(pattern: str) -> list[Layer]:
    if unknown := set(pattern) - LETTERS.keys():
        letters = ", ".join(map(repr, sorted(unknown)[:5]))
        raise UsageError(f"hybrid_override_pattern of config.json has letters unknown to attnpin ({letters}); set model.layers yourself")
    return [LETTERS[letter] for letter in pattern]
