"""How a question answers the words that vLLM's limits add to the others: the fields of its own selector."""

from __future__ import annotations

from backends.answers import Answer, known, some
from backends.latent import LATENT
from backends.model import Attention, LayerKind
from backends.question import Question
from backends.vllm import flash_attention
from backends.vllm.models import indexed, sees_prefixes


def head_size(question: Question, layer: LayerKind) -> Answer:
    """The width of K, the absorbed one of latent attention too."""
    return (layer.head_dim,)


def block_size(question: Question, layer: LayerKind) -> Answer:
    """Asked of what the user set alone: else the backend has its own."""
    return some(question.set_page_size)


def kv_kind(question: Question, layer: LayerKind) -> Answer:
    return ("quantized" if flash_attention.quantized(question.kv_flag) else "plain",)


def keys(question: Question, layer: LayerKind) -> Answer:
    return ("indexed" if indexed(question.model) else "all",)


def kv_widths(question: Question, layer: LayerKind) -> Answer:
    equal = question.model.attention is Attention.MLA or layer.head_dim == layer.value_head_dim
    return ("equal" if equal else "unequal",)


def images(question: Question, layer: LayerKind) -> Answer:
    """How its tokens see each other."""
    return ("in both directions" if sees_prefixes(question.model) else "causally",)


def fa_version(question: Question, layer: LayerKind) -> Answer:
    return known(flash_attention.version(question, layer)) if question.gpu.kind == "cuda" else ()


def fa_page(question: Question, layer: LayerKind) -> Answer:
    return known(flash_attention.page(question)) if question.gpu.kind == "cuda" else ()


def gathered_heads(question: Question, layer: LayerKind) -> Answer:
    """Query heads that a rank's kernel sees in decode, where ranks that split a context exchange theirs."""
    return (layer.query_heads * question.dcp_size,)


def nope_dim(question: Question, layer: LayerKind) -> Answer:
    """Of latent attention, None where nobody listed the checkpoint."""
    if question.model.attention is not Attention.MLA:
        return ()
    latent = LATENT.get(question.model.architecture)
    return known(None if latent is None else latent.nope)


def rope_dim(question: Question, layer: LayerKind) -> Answer:
    return (layer.head_dim - layer.value_head_dim,) if question.model.attention is Attention.MLA else ()


def latent_rank(question: Question, layer: LayerKind) -> Answer:
    return (layer.value_head_dim,) if question.model.attention is Attention.MLA else ()


def index_topk(question: Question, layer: LayerKind) -> Answer:
    """Of a model with an index of its own."""
    if not indexed(question.model):
        return ()
    latent = LATENT.get(question.model.architecture)
    return known(None if latent is None else latent.index_topk)
