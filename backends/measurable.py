"""What no driver is measured on in this version. A plan asks before anything starts, a worker when it opens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.latent import LATENT, OF_ALL_KEYS
from backends.model import Attention, Model
from backends.reason import Reason

ELSEWHERE = "measure it with another tool"
NARROW = ("float8_e4m3fn", "float8_e5m2")
# Whose verify steps backends/sglang/verify.py builds; the others bring lengths or masks of their own.
DRAFTS = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM")


def unmeasurable(model: Model, kv_dtypes: Iterable[str]) -> Iterator[Reason]:
    """Why arms with ``kv_dtypes`` (torch names) cannot be measured on ``model``."""
    if model.attention is Attention.MLA and model.architecture not in OF_ALL_KEYS:
        yield Reason(
            rule="attention",
            asked=f"the latent heads of {model.architecture}",
            allowed=f"those whose widths are listed, attending to all keys: {', '.join(OF_ALL_KEYS)}",
            remedy=ELSEWHERE if model.architecture in LATENT else f"add them to backends/latent.py, or {ELSEWHERE}",
            source="backends/latent.py",
        )
    for kv_dtype in dict.fromkeys(kv_dtypes):
        if kv_dtype != model.dtype and (kv_dtype not in NARROW or model.dtype == "float32"):
            yield Reason(
                rule="kv_dtype",
                asked=f"{kv_dtype} KV cache beside a {model.dtype} model",
                allowed=" or ".join((model.dtype, *(NARROW if model.dtype != "float32" else ()))) + " KV cache",
                remedy=f"set engine.kv_cache_dtype={'bfloat16' if model.dtype == 'bfloat16' else 'auto'}, or {ELSEWHERE}",
                source="backends/sglang/runner.py",
            )


def unverifiable(model: Model, algorithm: str | None, topk: int) -> Iterator[Reason]:
    """Why the verify steps of a server that drafts cannot be measured; none where it does not draft."""
    if algorithm is None:
        return
    if algorithm.upper() not in DRAFTS:
        yield Reason(
            rule="speculation",
            asked=f"the verify steps of {algorithm}",
            allowed=f"those of {', '.join(DRAFTS)}",
            remedy=f"plan without engine.speculative, or {ELSEWHERE}",
            source="backends/sglang/verify.py",
        )
    if topk > 1 and any(kind.sliding_window is not None for kind in model.layers):
        yield Reason(
            rule="topk",
            asked=f"a tree of drafts (topk {topk}) over layers with a sliding window, whose last key backends count differently",
            allowed="a chain (engine.speculative.topk=1) where layers have windows",
            remedy=f"set engine.speculative.topk=1, or {ELSEWHERE}",
            source="backends/checks/attention.py",
        )
