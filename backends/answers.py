"""How a question answers the words that limits are written in, for one layer kind at a time."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isclose

from backends.model import Attention, LayerKind
from backends.question import KNOWN_SM, Question

Value = int | str
Answer = tuple[Value, ...] | None  # () where the word does not apply, None where it does and nobody knows
Ask = Callable[[Question, LayerKind], Answer]

WANTED = "wanted"  # the one value of a feature word
KIB = 1024


def some(value: Value | None) -> Answer:
    """None = it does not apply."""
    return () if value is None else (value,)


def known(value: Value | None) -> Answer:
    """None = nobody knows."""
    return None if value is None else (value,)


def of_gpu(kind: str, value: Callable[[Question], Value | None]) -> Ask:
    """What is asked of GPUs of one kind alone."""
    return lambda question, _: known(value(question)) if question.gpu.kind == kind else ()


def shared_memory_kib(question: Question) -> int | None:
    smem = question.gpu.smem_per_block_bytes
    return None if smem is None else smem // KIB


def cpu(question: Question, layer: LayerKind) -> Answer:
    return ("with AMX" if question.gpu.amx else "without AMX",) if question.gpu.kind == "cpu" else ()


def head_dim(question: Question, layer: LayerKind) -> Answer:
    """Of layers whose K and V are equally wide; MLA has one geometry, which "attention" names."""
    equal = question.model.attention is Attention.MHA and layer.head_dim == layer.value_head_dim
    return (layer.head_dim,) if equal else ()


def widths(question: Question, layer: LayerKind) -> Answer:
    unequal = question.model.attention is Attention.MHA and layer.head_dim != layer.value_head_dim
    return (f"{layer.head_dim}/{layer.value_head_dim}",) if unequal else ()


def pool_elements(question: Question, layer: LayerKind) -> Answer:
    """Of one layer on one rank: ranks that split the keys of a context hold a share of the pool's tokens each."""
    if question.pool_tokens is None:
        return None
    return (ceil(question.pool_tokens / question.dcp_size) * layer.kv_heads * layer.head_dim,)


def speculation(question: Question, layer: LayerKind) -> Answer:
    wanted = "any algorithm" if "speculative" in question.features else None
    return some(question.speculation or wanted)


def scale(question: Question, layer: LayerKind) -> Answer:
    """Where the model brings its own."""
    plain = layer.scale is None or isclose(layer.scale, layer.head_dim**-0.5)
    return () if plain else (f"{layer.scale:g}",)


def soft_cap(question: Question, layer: LayerKind) -> Answer:
    cap = question.model.logit_softcap
    return (f"{cap:g}",) if cap else ()


def family(architectures: tuple[str, ...]) -> Ask:
    return lambda question, layer: (WANTED,) if question.model.architecture in architectures else ()


def feature(name: str) -> Ask:
    return lambda question, layer: (WANTED,) if name in question.features else ()


def release_of(library: str) -> Ask:
    """Of a library that is missing where the worker runs nothing is asked: that it is missing is a reason of its own."""

    def ask(question: Question, layer: LayerKind) -> Answer:
        if question.packages is None:
            return None
        return known(question.packages[library] or None) if library in question.packages else ()

    return ask


def whether_listed(question: Question, sm: Value) -> str:
    return "" if sm in KNOWN_SM else " (unknown architecture)"


def who_chose(question: Question, kv_dtype: Value) -> str:
    """Arguments are checked on "auto"; kernels run on what the checkpoint declares."""
    declared = question.kv_flag == "auto" and kv_dtype == question.model.declared_kv_dtype
    return ", which the checkpoint declares and engine.kv_cache_dtype=auto takes" if declared else ""
