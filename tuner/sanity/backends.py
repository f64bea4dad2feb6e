"""Backends, features and dtypes that no chosen entry, model or engine stands behind."""

from __future__ import annotations

from collections.abc import Iterator

from backends.dtypes import ELEMENT_BYTES
from backends.question import ENGINES, FEATURES
from tuner.sanity.tree import Tree, at
from tuner.suggest import instead
from tuner.workload.kv_size import PACKED_BYTES

BACKEND_KEYS = ("engine.attention_backend", "engine.prefill_attention_backend", "engine.decode_attention_backend")


def foreign_backends(tree: Tree) -> Iterator[str]:
    engine = tree["engine"]["name"]
    others = [name for name, entry in tree["backends"].items() if entry.get("engine", "sglang") != engine]
    if others and engine in ENGINES:
        yield (
            f"engine.name is {engine}, and {others[0]} among the backends chosen is not {ENGINES[engine]}'s; choose the engine with "
            f"engine={engine}, which brings its own, or name others with backend=[...]"
        )


def against_requirement(tree: Tree) -> Iterator[str]:
    """A choice of the user's beside the one backend that serves the model."""
    required = tree["model"]["required_backend"]
    for key in BACKEND_KEYS:
        if required is not None and at(tree, key) not in (None, required):
            yield f"{key}={at(tree, key)} contradicts model.required_backend={required}, without which the model is served wrong; drop one"


def unknown_names(tree: Tree) -> Iterator[str]:
    """Backends that no chosen entry describes, and features no limit speaks of."""
    backends = {name for backend, entry in tree["backends"].items() for name in (backend, *(entry.get("aliases") or ()))}
    asked = [(key, at(tree, key)) for key in (*BACKEND_KEYS, "model.required_backend")]
    asked += [("measure.backends", name) for name in tree["measure"]["backends"]]
    asked += [("measure.variants", variant.get("backend", "")) for variant in tree["measure"]["variants"]]
    for key, name in asked:
        if name is not None and name not in backends:
            yield f"{key} names {name!r}, which is not among the backends chosen; {instead(name, backends)}"
    for name in tree["engine"]["features"]:
        if name not in FEATURES:
            yield f"engine.features names {name!r}, which is no known feature; {instead(name, FEATURES)}"
    declared, dtypes = tree["model"]["declared_kv_dtype"], {*ELEMENT_BYTES, *PACKED_BYTES}
    if declared is not None and declared not in dtypes:
        yield f"model.declared_kv_dtype names {declared!r}, which is no dtype of a KV cache; {instead(declared, dtypes)}"
