"""Heads and widths of plain attention, layer by layer, and the layer kinds they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backends.model import LayerKind
from tuner.errors import UsageError
from tuner.hf.fields import Config, count, flag, items, needed, of_layer, part
from tuner.hf.layer import ATTENDING, Layer
from tuner.hf.scores import has_sinks, scale_of

NAMES = {Layer.SPARSE: "full", Layer.BOTH: "full"}
FALCON = ("falcon", "RefinedWeb", "RefinedWebModel")


def plain_kinds(config: Config, architecture: str, layers: Sequence[Layer], context_length: int) -> tuple[LayerKind, ...]:
    """The kinds of layers that attend, in the order they first appear. Raises `UsageError` for geometry that cannot be."""
    each = [_layer(config, architecture, word, index, context_length) for index, word in enumerate(layers) if word in ATTENDING]
    return named(Counter(each))


def named(counted: Counter[LayerKind]) -> tuple[LayerKind, ...]:
    """Each kind with its number of layers and a name that no other has ("full", "window", "full-2")."""
    kinds: list[LayerKind] = []
    for kind, layers in counted.items():
        same = sum(other.name.partition("-")[0] == kind.name for other in kinds)
        kinds.append(replace(kind, name=f"{kind.name}-{same + 1}" if same else kind.name, layers=layers))
    return tuple(kinds)


def _layer(config: Config, architecture: str, word: Layer, index: int, context_length: int) -> LayerKind:
    window = window_of(config, word, index)
    if window is not None and window >= context_length:  # it never hides a key
        word, window = Layer.FULL, None
    local = word in (Layer.WINDOW, Layer.CHUNK)
    view = _local_view(config) if local else _global_view(config)
    query_heads, kv_heads = _query_heads(view, index), _kv_heads(view, index)
    head_dim = _head_dim(view, query_heads)
    value_dim = count(view, "v_head_dim", 1) or head_dim
    sinks = has_sinks(config, architecture, local)
    scale = scale_of(config, head_dim)
    return LayerKind(NAMES.get(word, word.value), 1, query_heads, kv_heads, head_dim, value_dim, window, sinks, scale)


def window_of(config: Config, word: Layer, index: int) -> int | None:
    """Keys a query of this layer sees at the most, None = all. A chunk is taken as a window of its size."""
    if word is Layer.CHUNK:
        return count(config, "attention_chunk_size", 1)
    if word is not Layer.WINDOW:
        return None
    window = config.get("sliding_window")
    if isinstance(window, list):
        window = window[index % len(window)] if window else None
    size = count({"sliding_window": window}, "sliding_window", 1)
    if size is None:
        raise UsageError("config.json has layers with a sliding window and no sliding_window; set model.layers yourself")
    return size


def _local_view(config: Config) -> Config:
    """The values of window layers, where they have their own (MiMo-V2, Step 3.5)."""
    step = part(config, "attention_other_setting") or {}
    renamed = {"num_attention_groups": "num_key_value_heads"}
    other = {renamed.get(name, name): value for name, value in step.items()}
    own = {name.removeprefix("swa_"): value for name, value in config.items() if name.startswith("swa_") and value is not None}
    return {**config, **other, **own}


def _global_view(config: Config) -> Config:
    """The values of full layers, where they have their own (Gemma 4)."""
    own: dict[str, Any] = {}
    if (width := count(config, "global_head_dim", 1)) is not None:
        own["head_dim"] = width
    if flag(config, "attention_k_eq_v") and (heads := count(config, "num_global_key_value_heads", 1)) is not None:
        own["num_key_value_heads"] = heads
    return {**config, **own}


def _query_heads(view: Config, index: int) -> int:
    return needed(_at(view, "num_attention_heads", index), "num_attention_heads")


def _kv_heads(view: Config, index: int) -> int:
    """Source of the order: sglang/srt/configs/model_config.py, get_total_num_kv_heads."""
    new_falcon = view.get("model_type") in FALCON and flag(view, "new_decoder_architecture")
    grouped = count(view, "multi_query_group_num", 1)
    if flag(view, "multi_query") and not new_falcon and grouped is None:
        return 1
    own = count(_at(view, "num_key_value_heads", index), "num_key_value_heads", 1) or _of_block(view, index)
    heads = own if own is not None else _query_heads(view, index)
    if _query_heads(view, index) % heads:
        raise UsageError(
            f"config.json has {_query_heads(view, index)} query heads and {heads} KV heads, which do not divide; "
            f"correct num_attention_heads or num_key_value_heads"
        )
    return heads


def _of_block(view: Config, index: int) -> int | None:
    """Nemotron-NAS gives the query heads that share a KV head, block by block."""
    blocks = items(view, "block_configs") or []
    block = blocks[index] if index < len(blocks) and isinstance(blocks[index], dict) else {}
    group = count(part(block, "attention") or {}, "n_heads_in_group", 1)
    return None if group is None else max(1, _query_heads(view, index) // group)


def _head_dim(view: Config, query_heads: int) -> int:
    width = count(view, "head_dim", 1)
    if width is None:
        width = needed(view, "hidden_size") // query_heads
    if width < 1:
        raise UsageError(f"config.json has more query heads ({query_heads}) than hidden_size; correct one of them")
    return width


def _at(view: Config, name: str, index: int) -> Config:
    """A value that some models give as a list, one a layer."""
    if not isinstance(view.get(name), list):
        return view
    return {name: of_layer(view, name, index)}
