"""How the ranks of one server share attention: by heads, by requests, by the tokens of a prefill, by the keys of a context.

Source: sglang/srt/runtime_context.py, derive_attn_tp_size; sglang/srt/configs/model_config.py, get_num_kv_heads;
sglang/srt/arg_groups/parallel_hook.py (0.5.22). The same in 0.5.16, where attention data parallelism is --dp-size with
--enable-dp-attention.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

from backends.cell import Phase
from backends.model import LayerKind, UnevenSplit, per_rank
from store.scenario import Engine
from store.traffic import Traffic

# Whose projections keep the KV heads of a decode context-parallel group together (sglang/srt/arg_groups/attention_hook.py,
# _check_xpu_dcp); elsewhere a group with several heads would mix them.
GROUPED_KV = (
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
    "Qwen3_5ForCausalLM",
    "Qwen3_5MoeForCausalLM",
)


@dataclass(frozen=True)
class Ranks:
    """``tensor`` ranks in all: ``attn_dp`` groups with requests of their own x ``attn_cp`` shares of a prefill's tokens x
    `attention`, which divide the heads. ``dcp`` of those that share heads split the keys of a context in decode."""

    tensor: int
    attn_dp: int = 1
    attn_cp: int = 1
    dcp: int = 1

    @property
    def attention(self) -> int:
        """Ranks that the heads of one request are divided over (SGLang's attention TP)."""
        return self.tensor // self.attn_dp // self.attn_cp

    def __str__(self) -> str:
        others = {"attn_dp_size": self.attn_dp, "attn_cp_size": self.attn_cp}
        return " / ".join(
            [f"engine.tensor_parallel={self.tensor}", *(f"engine.{name}={size}" for name, size in others.items() if size > 1)]
        )


def ranks_of(engine: Engine) -> Ranks:
    return Ranks(engine.tensor_parallel, engine.attn_dp_size, engine.attn_cp_size, engine.dcp_size)


def world_size(engine: Engine) -> int:
    """Ranks of one server, each a GPU. A step waits for all of its stage, and a pipeline for its slowest stage."""
    return engine.tensor_parallel * engine.pipeline_parallel


def uneven(ranks: Ranks, kinds: Iterable[LayerKind], architecture: str) -> Iterator[str]:
    """A sentence for each split that does not come out even."""
    groups = ranks.attn_dp * ranks.attn_cp
    if ranks.tensor % groups:
        yield f"{ranks} does not come out even; choose sizes whose product divides {ranks.tensor}"
    elif ranks.attention % ranks.dcp:
        yield f"engine.dcp_size={ranks.dcp} does not divide the {ranks.attention} attention ranks ({ranks}); choose a divisor of them"
    else:
        yield from (said for kind in kinds for said in _uneven_heads(ranks, kind, architecture))


def _uneven_heads(ranks: Ranks, kind: LayerKind, architecture: str) -> Iterator[str]:
    try:
        rank_kind(kind, ranks)
    except UnevenSplit as error:
        yield f"{error} ({ranks}); choose a number of ranks that divides the heads"
        return
    groups = ranks.attention // ranks.dcp
    if ranks.dcp > 1 and kind.kv_heads > groups and architecture not in GROUPED_KV:
        yield (
            f"engine.dcp_size={ranks.dcp} leaves {groups} groups of ranks for {kind.kv_heads} KV heads, and SGLang splits the keys of "
            f"{architecture} only where a group holds one head; choose at most {max(1, ranks.attention // kind.kv_heads)}"
        )


@lru_cache(maxsize=256)
def rank_kind(kind: LayerKind, ranks: Ranks) -> LayerKind:
    """The heads of one rank. Ranks that split the keys of a context hold the same KV heads. Raises `UnevenSplit`."""
    split = per_rank(kind, ranks.attention)
    return replace(split, kv_heads=per_rank(kind, ranks.attention // ranks.dcp).kv_heads)


def phase_kind(kind: LayerKind, ranks: Ranks, phase: Phase) -> LayerKind:
    """``kind``, with a rank's heads, as an attention call sees it: in decode the ranks that split a context exchange their
    queries, so that each asks its keys for all of them (sglang/srt/layers/attention/triton_backend.py, num_head)."""
    return replace(kind, query_heads=kind.query_heads * ranks.dcp) if phase is Phase.DECODE else kind


def rank_lengths(lengths: tuple[int, ...], ranks: Ranks, phase: Phase) -> tuple[int, ...]:
    """Keys of each request that lie on one rank, at the most: token i of a context is rank i mod ``dcp``'s (sglang/srt/layers/dcp)."""
    return tuple(ceil(length / ranks.dcp) for length in lengths) if phase is Phase.DECODE else lengths


def rank_traffic(traffic: Traffic, ranks: Ranks) -> Traffic:
    """The requests that one group of ranks has running."""
    return replace(traffic, concurrency=ceil(traffic.concurrency / ranks.attn_dp))
