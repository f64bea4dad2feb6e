"""Settings of an engine that it would refuse, or never hear of."""

from __future__ import annotations

from collections.abc import Iterator

from backends.question import ENGINES
from tuner.engines import WITH_RULES
from tuner.sanity.tree import Tree
from tuner.schema.engine import ALGORITHMS, KV_CACHE_DTYPES
from tuner.suggest import instead, nearest

OF_SGLANG = (
    *("prefill_attention_backend", "decode_attention_backend"),
    *("disable_cuda_graph", "cuda_graph_max_bs", "cuda_graph_bs", "hierarchical_cache", "swa_full_tokens_ratio"),
    *("disable_hybrid_swa_memory", "mixed_chunk"),
)


def unknown_engine(name: str) -> Iterator[str]:
    if name not in WITH_RULES:
        yield f"engine.name names {name!r}, an engine whose rules attnpin does not know; {instead(name, WITH_RULES)}"


def of_another_engine(engine: Tree) -> Iterator[str]:
    """Settings of SGLang that another engine would never hear of."""
    for name in OF_SGLANG if engine["name"] != "sglang" else ():
        if engine[name] not in (None, False, []):
            yield f"engine.{name}={engine[name]} is a setting of SGLang's, and engine.name is {engine['name']}; leave it out"


def foreign_dtype(engine: Tree) -> Iterator[str]:
    """A KV dtype that the engine spells otherwise."""
    name, word = engine["name"], engine["kv_cache_dtype"]
    if word not in KV_CACHE_DTYPES.get(name, (word,)):
        yield f"engine.kv_cache_dtype={word} is no word of {ENGINES[name]}'s; {instead(word, KV_CACHE_DTYPES[name])}"


def misspelt_algorithm(engine: Tree) -> Iterator[str]:
    """One that is like no word of the engine's may be a plugin's, of which the engine itself is asked."""
    words, name = ALGORITHMS.get(engine["name"], ()), engine["speculative"]["algorithm"]
    if name is not None and name.upper() not in words and nearest(name.upper(), words):
        yield f"engine.speculative.algorithm={name} is no word of {ENGINES[engine['name']]}'s; {instead(name.upper(), words)}"


def impossible_graphs(engine: Tree) -> Iterator[str]:
    for batch in engine["cuda_graph_bs"]:
        if batch < 1:
            yield f"engine.cuda_graph_bs holds {batch}, which is no batch; each must be at least 1"


def impossible_drafts(engine: Tree) -> Iterator[str]:
    """More accepted tokens than are drafted, which would make a verify step rarer than it can be, or such without a draft."""
    drafts, key = engine["speculative"], "engine.speculative.accepted_length"
    if (accepted := drafts["accepted_length"]) is None:
        return
    if drafts["algorithm"] is None:
        yield f"{key}={accepted} belongs to a draft, and engine.speculative.algorithm names none; name it or leave it out"
    most = drafts["draft_tokens"]
    if most is not None and accepted > most:
        yield f"{key}={accepted} exceeds engine.speculative.draft_tokens={most}, all that a verify step sees; exchange or correct them"
