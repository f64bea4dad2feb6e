"""What no driver is measured on in this version. A plan asks before anything starts, a worker when it opens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.model import LayerKind, Model
from backends.reason import Reason

ELSEWHERE = "measure it with another tool"


def unmeasurable(model: Model, layers: Iterable[LayerKind], kv_dtypes: Iterable[str]) -> Iterator[Reason]:
    """Why arms with ``kv_dtypes`` (torch names) cannot be measured on ``layers`` of ``model``, which hold heads per rank."""
    if model.sinks:
        yield Reason(
            rule="sinks",
            asked="attention sinks",
            allowed="layers without sinks: the reference that answers are held against does not know them",
            remedy=ELSEWHERE,
            source="backends/checks/reference.py",
        )
    shapes = dict.fromkeys((layer.kv_heads, layer.head_dim, layer.value_head_dim) for layer in layers)
    if len(shapes) > 1:
        yield Reason(
            rule="geometry",
            asked=f"layer kinds of {' and '.join(f'{heads} x {k}/{v}' for heads, k, v in shapes)} (KV heads a rank x widths of K/V)",
            allowed="layers of one geometry: they share one KV pool",
            remedy=ELSEWHERE,
            source="backends/stand.py",
        )
    for kv_dtype in dict.fromkeys(kv_dtypes):
        if kv_dtype != model.dtype:
            yield Reason(
                rule="kv_dtype",
                asked=f"{kv_dtype} KV cache beside a {model.dtype} model",
                allowed=f"{model.dtype} KV cache",
                remedy=f"set engine.kv_cache_dtype={'bfloat16' if model.dtype == 'bfloat16' else 'auto'}, or {ELSEWHERE}",
                source="backends/sglang/runner.py",
            )
