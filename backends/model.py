"""The model's attention geometry, whole and as one tensor-parallel rank sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Attention(str, Enum):
    MHA = "mha"
    MLA = "mla"


@dataclass(frozen=True)
class LayerKind:
    """Layers that share one attention geometry. Heads are the model's until `per_rank` divides them.

    ``head_dim`` is the width of K (MLA: the absorbed 576), ``value_head_dim`` that of V (MLA: 512).
    ``sliding_window`` counts the keys a query sees, None = all of them.
    """

    name: str
    layers: int
    query_heads: int
    kv_heads: int
    head_dim: int
    value_head_dim: int
    sliding_window: int | None = None

    @property
    def group(self) -> int:
        """Query heads per KV head."""
        return self.query_heads // self.kv_heads

    @property
    def softmax_scale(self) -> float:
        """What every score is multiplied by before the softmax: head_dim ** -0.5 (MLA models set their own)."""
        return float(self.head_dim**-0.5)


@dataclass(frozen=True)
class Model:
    """``dtype`` and the KV dtype a checkpoint declares are torch names ("bfloat16"); parameter counts are absolute."""

    name: str
    architecture: str
    attention: Attention
    layers: tuple[LayerKind, ...]
    hidden_size: int
    vocab_size: int
    params_total: float
    params_active: float
    dtype: str
    context_length: int
    source: str
    sinks: bool = False
    logit_softcap: float | None = None
    declared_kv_dtype: str | None = None

    @property
    def attention_layers(self) -> int:
        return sum(kind.layers for kind in self.layers)


class UnevenSplit(ValueError):
    """Heads that the requested tensor parallelism cannot divide."""


def per_rank(kind: LayerKind, attention_tp: int) -> LayerKind:
    """The kind's heads on one of ``attention_tp`` ranks; KV heads are replicated when there are fewer than ranks.

    Raises `UnevenSplit` when query heads, or KV heads above the rank count, do not divide.
    Source of the rule: sglang/srt/configs/model_config.py, get_num_kv_heads.
    """
    if kind.query_heads % attention_tp:
        raise UnevenSplit(
            f"{kind.query_heads} query heads do not divide over engine.tensor_parallel={attention_tp}; "
            f"choose a divisor of {kind.query_heads}"
        )
    if kind.kv_heads > attention_tp and kind.kv_heads % attention_tp:
        raise UnevenSplit(
            f"{kind.kv_heads} KV heads do not divide over engine.tensor_parallel={attention_tp}; choose a divisor of {kind.kv_heads}"
        )
    return replace(kind, query_heads=kind.query_heads // attention_tp, kv_heads=max(1, kind.kv_heads // attention_tp))
