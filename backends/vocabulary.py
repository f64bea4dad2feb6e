"""The words that limits are written in: how a question answers each, how a value reads, and what to do about a misfit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends.model import Attention, LayerKind
from backends.question import FEATURES, KNOWN_SM, Question

Value = int | str
Answer = Callable[[Question, LayerKind], "tuple[Value, ...]"]

WANTED = "wanted"  # the one value of a feature word
KIB = 1024


@dataclass(frozen=True)
class Word:
    """``ask`` gives the values a question holds for one layer kind: none where the word does not apply (no window, no
    speculation, not an NVIDIA GPU). ``text`` renders one value, ``remedy`` is an imperative clause."""

    ask: Answer
    text: str
    remedy: str


def _some(value: Value | None) -> tuple[Value, ...]:
    return () if value is None else (value,)


def _equal_widths(question: Question, layer: LayerKind) -> bool:
    return question.model.attention is Attention.MHA and layer.head_dim == layer.value_head_dim


def _widths(question: Question, layer: LayerKind) -> tuple[Value, ...]:
    unequal = question.model.attention is Attention.MHA and layer.head_dim != layer.value_head_dim
    return (f"{layer.head_dim}/{layer.value_head_dim}",) if unequal else ()


def _speculation(question: Question, layer: LayerKind) -> tuple[Value, ...]:
    wanted = "any algorithm" if "speculative" in question.features else None
    return _some(question.speculation or wanted)


def _cpu(question: Question, layer: LayerKind) -> tuple[Value, ...]:
    return ("with AMX" if question.gpu.amx else "without AMX",) if question.gpu.kind == "cpu" else ()


def _shared_memory(question: Question, layer: LayerKind) -> tuple[Value, ...]:
    smem = question.gpu.smem_per_block_bytes
    return _some(None if smem is None else smem // KIB)


def _soft_cap(question: Question, layer: LayerKind) -> tuple[Value, ...]:
    cap = question.model.logit_softcap
    return (f"{cap:g}",) if cap else ()


def _feature(name: str) -> Answer:
    return lambda question, layer: (WANTED,) if name in question.features else ()


OTHER = "choose another backend"

WORDS: dict[str, Word] = {
    "device": Word(lambda q, _: (q.gpu.kind,), "device {}", "choose a backend that runs on this device"),
    "sm": Word(lambda q, _: _some(q.gpu.sm), "sm {}", "choose another backend, or a GPU of a listed architecture"),
    "cuda": Word(lambda q, _: _some(q.gpu.cuda), "CUDA {}", "install a torch built for a newer CUDA"),
    "cpu": Word(_cpu, "CPU {}", "choose a backend that needs no AMX"),
    "shared_memory_kib": Word(_shared_memory, "{} KiB of shared memory a block", OTHER),
    "attention": Word(lambda q, _: (q.model.attention.value,), "{} attention", "choose a backend for this kind of attention"),
    "architecture": Word(lambda q, _: (q.model.architecture,), "{}", "leave it to the models that bring it"),
    "phase": Word(lambda q, _: (q.phase.value,), "{}", "use it in the other phase only"),
    "dtype": Word(lambda q, _: (q.model.dtype,), "{} model", "serve the model in a listed dtype, or choose another backend"),
    "kv_dtype": Word(lambda q, _: (q.kv_dtype,), "{} KV cache", "set engine.kv_cache_dtype to a listed one, or choose another backend"),
    "kv_flag": Word(lambda q, _: (q.kv_flag,), "engine.kv_cache_dtype={}", "spell engine.kv_cache_dtype as listed"),
    "head_dim": Word(lambda q, layer: (layer.head_dim,) if _equal_widths(q, layer) else (), "head dim {}", OTHER),
    "widths": Word(_widths, "K/V widths {}", "choose a backend that takes unequal widths"),
    "group": Word(lambda q, layer: (layer.group,), "{} query heads per KV head", "change engine.tensor_parallel or choose another backend"),
    "query_heads": Word(lambda q, layer: (layer.query_heads,), "{} query heads a rank", "change engine.tensor_parallel"),
    "page_size": Word(lambda q, _: (q.page_size,), "page size {}", "set engine.page_size to a listed one"),
    "speculation": Word(_speculation, "speculative decoding ({})", "drop speculation or choose another backend"),
    "topk": Word(lambda q, _: (q.topk,), "draft topk {}", "set engine.speculative.topk to a listed one"),
    "sinks": Word(lambda q, _: (WANTED,) if q.model.sinks else (), "attention sinks", OTHER),
    "soft_cap": Word(_soft_cap, "a logit soft cap of {}", OTHER),
    "sliding_window": Word(lambda q, layer: _some(layer.sliding_window), "a sliding window of {}", OTHER),
    **{name: Word(_feature(name), name.replace("_", " "), "drop the feature or choose another backend") for name in FEATURES},
}


def asked_in_words(rule: str, value: Value) -> str:
    """One asked value as a reader would say it; an architecture nobody has listed is called unknown."""
    said = WORDS[rule].text.format(value)
    return f"{said} (unknown architecture)" if rule == "sm" and value not in KNOWN_SM else said
