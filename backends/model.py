"""The model's attention geometry, whole and as one tensor-parallel rank sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

NARROWEST_LATENT = 256  # kv_lora_rank: 256 of MiniCPM3, 512 of DeepSeek and Kimi


class Attention(str, Enum):
    MHA = "mha"
    MLA = "mla"


@dataclass(frozen=True)
class LayerKind:
    """Layers that share one attention geometry. Heads are the model's until `per_rank` divides them.

    ``head_dim`` is the width of K (MLA: the absorbed 576), ``value_head_dim`` that of V (MLA: 512).
    ``sliding_window`` counts the keys a query sees, None = all of them. ``sinks``: each head adds a learned term to the
    softmax's denominator. ``scale`` is the model's own factor of the scores, None = head_dim ** -0.5.
    ``projected_from``: of a cached latent vector, its width and how much of it K and V are projected up from before they are
    attended to (MLA prefill, then K's tail is the rest of the vector); None = the cache holds K and V.
    """

    name: str
    layers: int
    query_heads: int
    kv_heads: int
    head_dim: int
    value_head_dim: int
    sliding_window: int | None = None
    sinks: bool = False
    scale: float | None = None
    projected_from: tuple[int, int] | None = None

    @property
    def group(self) -> int:
        """Query heads per KV head."""
        return self.query_heads // self.kv_heads

    @property
    def latent(self) -> bool:
        """Whether the cache holds K and V as one: absorbed MLA reads as values the leading part of its keys. No plain attention has a
        single KV head with values that wide and keys still wider."""
        heads, width, value_width = self.cached
        return heads == 1 and width > value_width >= NARROWEST_LATENT

    @property
    def cached(self) -> tuple[int, int, int]:
        """What the KV cache holds of one token: heads, and the widths of their keys and values (MLA: of one vector and its head)."""
        return (self.kv_heads, self.head_dim, self.value_head_dim) if self.projected_from is None else (1, *self.projected_from)

    @property
    def cached_width(self) -> int:
        """Elements that the KV cache holds of one token, all KV heads together."""
        heads, width, value_width = self.cached
        return heads * (width if self.latent else width + value_width)

    @property
    def softmax_scale(self) -> float:
        """What every score is multiplied by before the softmax."""
        return float(self.head_dim**-0.5) if self.scale is None else self.scale


@dataclass(frozen=True)
class Model:
    """``dtype`` and the KV dtype a checkpoint declares are torch names ("bfloat16"); parameter counts are absolute.

    ``layers`` are those with softmax attention; ``other_layers`` counts the rest (Mamba, linear attention, convolutions).
    ``weight_bits``: what one stored parameter takes on average in a quantized checkpoint, None = the bits of ``dtype``.
    ``attention_params``: those of the attention layers' projections, None = what the geometry gives for plain heads.
    ``config_sha256``: of the checkpoint's files that it was read from, None = it was not read from one.
    ``required_backend``: the only attention backend that serves the model right, by whoever knows it; None = any that may run.
    """

    RETIRED: ClassVar[frozenset[str]] = frozenset({"sinks"})  # now a layer kind's; no model with sinks was measured before

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
    logit_softcap: float | None = None
    declared_kv_dtype: str | None = None
    weight_bits: float | None = None
    attention_params: float | None = None
    other_layers: int = 0
    required_backend: str | None = None
    config_sha256: str | None = None

    @property
    def attention_layers(self) -> int:
        return sum(kind.layers for kind in self.layers)

    @property
    def sinks(self) -> bool:
        """Whether any layer has attention sinks."""
        return any(kind.sinks for kind in self.layers)


class UnevenSplit(ValueError):
    """Heads that the ranks which share attention cannot divide; the text names both numbers."""


def per_rank(kind: LayerKind, attention_tp: int) -> LayerKind:
    """The kind's heads on one of ``attention_tp`` ranks; KV heads are replicated when there are fewer than ranks.

    Raises `UnevenSplit` when query heads, or KV heads above the rank count, do not divide, or fewer cannot be replicated evenly.
    Source of the rule: sglang/srt/configs/model_config.py, get_num_kv_heads; the asserts in sglang/srt/models/llama.py.
    """
    if kind.query_heads % attention_tp:
        raise UnevenSplit(f"{kind.query_heads} query heads do not divide over {attention_tp} attention ranks")
    if kind.kv_heads > attention_tp and kind.kv_heads % attention_tp:
        raise UnevenSplit(f"{kind.kv_heads} KV heads do not divide over {attention_tp} attention ranks")
    if attention_tp % min(kind.kv_heads, attention_tp):
        raise UnevenSplit(f"{kind.kv_heads} KV heads cannot be replicated evenly on {attention_tp} attention ranks")
    return replace(kind, query_heads=kind.query_heads // attention_tp, kv_heads=max(1, kind.kv_heads // attention_tp))
