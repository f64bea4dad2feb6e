"""The words that limits are written in: how a question answers each, how a value reads, and what to do about a misfit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends import answers
from backends.answers import WANTED, Ask, Value
from backends.families import GATED_DELTA, INDEXED
from backends.question import FEATURES, Question
from backends.vllm import words as vllm

UNKNOWN = "unknown"

# Libraries with limits of their own releases, by import name.
LIBRARIES = ("flashinfer",)


@dataclass(frozen=True)
class Word:
    """``ask`` gives the values a question holds for one layer kind: none where the word does not apply (no window, no
    speculation, not an NVIDIA GPU), None where it applies and nobody knows. ``text`` renders one value, ``remedy`` is an
    imperative clause, ``aside`` what else must be said of the value asked."""

    ask: Ask
    text: str
    remedy: str
    aside: Callable[[Question, Value], str] | None = None


OTHER = "choose another backend"
OTHER_GPU = "choose another backend, or a GPU of a listed architecture"
OTHER_BLOCK = "set engine.page_size to a listed one, or leave it to the engine"
OTHER_DTYPE = "set engine.kv_cache_dtype to a listed one, or choose another backend"

WORDS: dict[str, Word] = {
    "device": Word(lambda q, _: (q.gpu.kind,), "device {}", "choose a backend that runs on this device"),
    "sm": Word(answers.of_gpu("cuda", lambda q: q.gpu.sm), "sm {}", OTHER_GPU, answers.whether_listed),
    "arch": Word(answers.of_gpu("rocm", lambda q: q.gpu.arch), "architecture {}", OTHER_GPU),
    "cuda": Word(answers.of_gpu("cuda", lambda q: q.gpu.cuda), "CUDA {}", "install a torch built for a newer CUDA"),
    "cpu": Word(answers.cpu, "CPU {}", "choose a backend that needs no AMX"),
    "shared_memory_kib": Word(answers.of_gpu("cuda", answers.shared_memory_kib), "{} KiB of shared memory a block", OTHER),
    "attention": Word(lambda q, _: (q.model.attention.value,), "{} attention", "choose a backend for this kind of attention"),
    "architecture": Word(lambda q, _: (q.model.architecture,), "{}", "leave it to the models that bring it"),
    "phase": Word(lambda q, _: (q.phase.value,), "{}", "use it in the other phase only"),
    "engine": Word(lambda q, _: (q.engine_version or q.rules,), "SGLang {}", "serve with a listed version, or choose another backend"),
    "path": Word(lambda q, _: q.paths or (), "{} kernels", OTHER),
    "dtype": Word(lambda q, _: (q.model.dtype,), "{} model", "serve the model in a listed dtype, or choose another backend"),
    "query_dtype": Word(lambda q, _: (q.query_dtype or q.model.dtype,), "{} queries", OTHER),
    "kv_dtype": Word(lambda q, _: (q.kv_dtype,), "{} KV cache", OTHER_DTYPE, answers.who_chose),
    "kv_flag": Word(lambda q, _: (q.kv_flag,), "engine.kv_cache_dtype={}", "spell engine.kv_cache_dtype as listed"),
    "head_dim": Word(answers.head_dim, "head dim {}", OTHER),
    "widths": Word(answers.widths, "K/V widths {}", "choose a backend that takes unequal widths"),
    "group": Word(lambda _, layer: (layer.group,), "{} query heads per KV head", "change engine.tensor_parallel or choose another backend"),
    "query_heads": Word(lambda _, layer: (layer.query_heads,), "{} query heads a rank", "change engine.tensor_parallel"),
    "page_size": Word(lambda q, _: (q.page_size,), "page size {}", "set engine.page_size to a listed one"),
    "pool_elements": Word(answers.pool_elements, "{} elements in a layer's pool", "serve with a smaller pool, or choose another backend"),
    "speculation": Word(answers.speculation, "speculative decoding ({})", "drop speculation or choose another backend"),
    "topk": Word(lambda q, _: (q.topk,), "draft topk {}", "set engine.speculative.topk to a listed one"),
    "dcp_size": Word(lambda q, _: (q.dcp_size,), "decode context parallel {}", "set engine.dcp_size to a listed one"),
    "attn_cp_size": Word(lambda q, _: (q.attn_cp_size,), "attention context parallel {}", "set engine.attn_cp_size to a listed one"),
    "sinks": Word(lambda _, layer: (WANTED,) if layer.sinks else (), "attention sinks", OTHER),
    "indexed_keys": Word(answers.family(INDEXED), "keys that the model's own index chooses", OTHER),
    "gated_delta": Word(answers.family(GATED_DELTA), "gated delta networks beside attention", OTHER),
    "scale": Word(answers.scale, "a softmax scale of {}", OTHER),
    "soft_cap": Word(answers.soft_cap, "a logit soft cap of {}", OTHER),
    "sliding_window": Word(lambda _, layer: answers.some(layer.sliding_window), "a sliding window of {}", OTHER),
    "head_size": Word(vllm.head_size, "head size {}", OTHER),
    "block_size": Word(vllm.block_size, "block size {}", OTHER_BLOCK),
    "kv_kind": Word(vllm.kv_kind, "{} KV cache", OTHER_DTYPE),
    "kv_widths": Word(vllm.kv_widths, "{} K/V widths", OTHER),
    "keys": Word(vllm.keys, "attention to {} keys", OTHER),
    "images": Word(vllm.images, "images seen {}", OTHER),
    "fa_version": Word(vllm.fa_version, "FlashAttention {}", OTHER),
    "fa_page": Word(vllm.fa_page, "FlashAttention pages of {} tokens", OTHER),
    "gathered_heads": Word(vllm.gathered_heads, "{} query heads gathered on a rank", "change engine.tensor_parallel or engine.dcp_size"),
    "nope_dim": Word(vllm.nope_dim, "qk_nope_head_dim {}", OTHER),
    "rope_dim": Word(vllm.rope_dim, "qk_rope_head_dim {}", OTHER),
    "latent_rank": Word(vllm.latent_rank, "kv_lora_rank {}", OTHER),
    "index_topk": Word(vllm.index_topk, "index_topk {}", OTHER),
    **{name: Word(answers.feature(name), name.replace("_", " "), "drop the feature or choose another backend") for name in FEATURES},
    **{name: Word(answers.release_of(name), f"{name} {{}}", f"install a listed {name}, or choose another backend") for name in LIBRARIES},
}


def in_words(rule: str, value: Value | None) -> str:
    """One value as a reader would say it; None = nobody knows it."""
    return WORDS[rule].text.format(UNKNOWN if value is None else value)


def asked_in_words(rule: str, value: Value | None, question: Question) -> str:
    """One asked value, with what else must be said of it."""
    aside = WORDS[rule].aside
    return in_words(rule, value) + (aside(question, value) if aside is not None and value is not None else "")
