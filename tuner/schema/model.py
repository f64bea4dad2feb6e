"""The model: its layers, its heads, its dtype."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tuner.schema import MISSING

Attention = Enum("Attention", ["mha", "mla"])
ModelDtype = Enum("ModelDtype", ["bfloat16", "float16", "float32", "device"])  # device: what it computes in


@dataclass
class LayerKindNode:
    name: str = MISSING
    layers: int = MISSING
    query_heads: int = MISSING
    kv_heads: int = MISSING
    head_dim: int = MISSING
    value_head_dim: int = MISSING
    sliding_window: int | None = None
    sinks: bool = False
    scale: float | None = None


@dataclass
class ModelNode:
    name: str = MISSING
    architecture: str = MISSING
    attention: Attention = MISSING
    layers: list[LayerKindNode] = MISSING
    hidden_size: int = MISSING
    vocab_size: int = MISSING
    params_total: float = MISSING
    params_active: float = MISSING
    dtype: ModelDtype = MISSING
    context_length: int = MISSING
    source: str = MISSING
    logit_softcap: float | None = None
    declared_kv_dtype: str | None = None
    weight_bits: float | None = None
    attention_params: float | None = None
    other_layers: int = 0
    required_backend: str | None = None
    config_sha256: str | None = None
    path: str | None = None
