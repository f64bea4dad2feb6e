"""Layers and ranks that cannot be: heads that do not divide, sizes below 1, latent attention with many KV heads."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from backends.model import Attention, LayerKind
from tuner.sanity.tree import Tree
from tuner.workload.ranks import Ranks, uneven


def impossible_geometry(model: Tree, engine: Tree) -> Iterator[str]:
    """A sentence for each fault of the resolved ``model`` and ``engine`` nodes; how ranks split heads is looked at last."""
    if not model["layers"]:
        yield f"model {model['name']} has no layers; give model.layers at least one kind"
    kinds = [LayerKind(**layer) for layer in model["layers"]]
    for kind in kinds:
        yield from _impossible_kind(kind, model)
    ranks = Ranks(engine["tensor_parallel"], engine["attn_dp_size"], engine["attn_cp_size"], engine["dcp_size"])
    yield from uneven(ranks, kinds, model["architecture"])


def _impossible_kind(kind: LayerKind, model: Tree) -> Iterator[str]:
    where = f"layer kind {kind.name!r} of model {model['name']}"
    sizes = (kind.layers, kind.query_heads, kind.kv_heads, kind.head_dim, kind.value_head_dim)
    if min(sizes) < 1 or (kind.sliding_window is not None and kind.sliding_window < 1):
        yield f"{where} has a size below 1; correct model.layers"
    elif kind.query_heads % kind.kv_heads:
        yield f"{kind.query_heads} query heads do not divide over {kind.kv_heads} KV heads; correct model.layers ({kind.name!r})"
    if kind.scale is not None and not (isfinite(kind.scale) and kind.scale > 0):
        yield f"{where} has scale {kind.scale}; it must be above 0"
    if model["attention"] == Attention.MLA.value and (kind.kv_heads != 1 or kind.value_head_dim > kind.head_dim):
        shape = f"{kind.kv_heads} KV heads of {kind.head_dim}/{kind.value_head_dim}"
        yield f"{where} has {shape}; latent attention (mla) has 1 KV head whose keys hold the values, such as 576/512"
