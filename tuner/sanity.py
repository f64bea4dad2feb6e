"""Values that are of the right type and still make no sense, each refused with the key, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from backends.question import ENGINES, FEATURES
from tuner.engines import WITH_RULES
from tuner.errors import UsageError
from tuner.geometry import impossible_geometry
from tuner.schema import KV_CACHE_DTYPES
from tuner.simulation_sanity import impossible_simulation
from tuner.suggest import instead

Tree = dict[str, Any]
Bound = tuple[str, Callable[[float], bool]]

COUNT: Bound = ("at least 1", lambda value: value >= 1)
BATCH: Bound = ("from 1 to 100000", lambda value: 1 <= value <= 100_000)
POSITIVE: Bound = ("above 0", lambda value: value > 0)
NOT_NEGATIVE: Bound = ("0 or more", lambda value: value >= 0)
SHARE: Bound = ("at least 0 and below 1", lambda value: 0 <= value < 1)
FRACTION: Bound = ("above 0 and at most 1", lambda value: 0 < value <= 1)
INSIDE: Bound = ("above 0 and below 1", lambda value: 0 < value < 1)

GPU_FIGURES = (
    *("sm", "sm_count", "memory_bytes", "l2_bytes", "smem_per_block_bytes"),
    *("bandwidth_bytes_per_s", "peak_flops", "peak_flops_fp8"),
)
BOUNDS: dict[str, Bound] = {
    "model.hidden_size": COUNT,
    "model.vocab_size": COUNT,
    "model.context_length": COUNT,
    "model.params_total": POSITIVE,
    "model.params_active": POSITIVE,
    "model.logit_softcap": POSITIVE,
    "traffic.concurrency": COUNT,
    "traffic.cached_share": SHARE,
    "traffic.shared_prefix_tokens": NOT_NEGATIVE,
    "traffic.prompt.median_tokens": COUNT,
    "traffic.prompt.p95_tokens": COUNT,
    "traffic.output.median_tokens": COUNT,
    "traffic.output.p95_tokens": COUNT,
    **dict.fromkeys((f"gpu.{name}" for name in GPU_FIGURES), POSITIVE),
    "model.weight_bits": POSITIVE,
    "model.attention_params": POSITIVE,
    "model.other_layers": NOT_NEGATIVE,
    "engine.tensor_parallel": COUNT,
    "engine.attn_dp_size": COUNT,
    "engine.attn_cp_size": COUNT,
    "engine.dcp_size": COUNT,
    "engine.page_size": COUNT,
    "engine.context_length": COUNT,
    "engine.pipeline_parallel": COUNT,
    "engine.cuda_graph_max_bs": BATCH,
    "engine.swa_full_tokens_ratio": FRACTION,
    "engine.mem_fraction_static": INSIDE,
    "engine.speculative.topk": COUNT,
    "engine.speculative.steps": COUNT,
    "engine.speculative.draft_tokens": COUNT,
    "measure.processes": COUNT,
    "measure.memory_fraction": FRACTION,
    "measure.seed": NOT_NEGATIVE,
    "measure.budget_s": POSITIVE,
    "measure.timing.blocks": COUNT,
    "measure.timing.replays": COUNT,
    "measure.timing.replay_ms": POSITIVE,
    "measure.timing.discard_ms": NOT_NEGATIVE,
    "measure.timing.warmup_s": NOT_NEGATIVE,
    "measure.timing.warmup_cap_s": POSITIVE,
    "measure.timing.build_limit_s": POSITIVE,
    "measure.timing.trial_limit_s": POSITIVE,
    "decide.min_gain": SHARE,
    "decide.max_cell_loss": SHARE,
    "decide.tie_margin": SHARE,
    "decide.confidence": INSIDE,
    "decide.sigma_floor": SHARE,
}
# (smaller, larger): the first must not exceed the second
ORDERED = (
    ("traffic.prompt.median_tokens", "traffic.prompt.p95_tokens"),
    ("traffic.output.median_tokens", "traffic.output.p95_tokens"),
    ("measure.timing.warmup_s", "measure.timing.warmup_cap_s"),
    ("model.params_active", "model.params_total"),
)
IDLE_OBJECTIVES = {("decode", "ttft"), ("prefill", "tpot")}  # (engine.role, decide.objective)
OF_SGLANG = (
    *("prefill_attention_backend", "decode_attention_backend"),
    *("disable_cuda_graph", "cuda_graph_max_bs", "cuda_graph_bs", "hierarchical_cache", "swa_full_tokens_ratio"),
    "disable_hybrid_swa_memory",
)
BACKEND_KEYS = ("engine.attention_backend", "engine.prefill_attention_backend", "engine.decode_attention_backend")


def refuse_nonsense(tree: Tree) -> None:
    """Raises `UsageError` with the first complaint about a resolved configuration tree."""
    for complaint in complaints(tree):
        raise UsageError(complaint)


def complaints(tree: Tree) -> Iterator[str]:
    yield from out_of_bounds(tree)
    yield from out_of_order(tree)
    yield from impossible_geometry(tree["model"], tree["engine"])
    yield from idle_objective(tree)
    yield from uncached_prefix(tree["traffic"])
    yield from figures_beside_auto(tree["gpu"])
    yield from impossible_simulation(tree["gpu"])
    yield from against_requirement(tree)
    yield from impossible_graphs(tree["engine"])
    yield from unknown_engine(tree["engine"]["name"])
    yield from of_another_engine(tree["engine"])
    yield from foreign_dtype(tree["engine"])
    yield from foreign_backends(tree)
    yield from unknown_names(tree)


def out_of_bounds(tree: Tree) -> Iterator[str]:
    for key, (allowed, holds) in BOUNDS.items():
        value = _at(tree, key)
        if value is not None and not (abs(value) < inf and holds(value)):
            yield f"{key}={value} is not possible; it must be {allowed}"


def out_of_order(tree: Tree) -> Iterator[str]:
    for smaller, larger in ORDERED:
        if _at(tree, smaller) > _at(tree, larger):
            yield f"{smaller}={_at(tree, smaller)} exceeds {larger}={_at(tree, larger)}; exchange or correct them"


def uncached_prefix(traffic: Tree) -> Iterator[str]:
    """Every request but the first finds what all of them share."""
    shared, cached = traffic["shared_prefix_tokens"], traffic["cached_share"]
    if shared and not cached:
        yield f"traffic.shared_prefix_tokens={shared} are found in the cache, where traffic.cached_share={cached} says nothing is; raise it"


def idle_objective(tree: Tree) -> Iterator[str]:
    """An objective that adds up a phase the server does not run."""
    role, objective = tree["engine"]["role"], tree["decide"]["objective"]
    if (role, objective) in IDLE_OBJECTIVES:
        yield f"decide.objective={objective} counts nothing on a server with engine.role={role}; choose throughput"


def figures_beside_auto(gpu: Tree) -> Iterator[str]:
    """The machine's figures would stand, and nothing would be heard of the user's."""
    for name in (*GPU_FIGURES, "arch", "cuda"):
        if gpu["kind"] == "auto" and gpu[name] is not None:
            yield f"gpu.{name}={gpu[name]} has no say beside gpu=auto, which reads the machine; name a GPU (gpu=h200) or leave it out"


def against_requirement(tree: Tree) -> Iterator[str]:
    """A choice of the user's beside the one backend that serves the model."""
    required = tree["model"]["required_backend"]
    for key in BACKEND_KEYS:
        if required is not None and _at(tree, key) not in (None, required):
            yield f"{key}={_at(tree, key)} contradicts model.required_backend={required}, without which the model is served wrong; drop one"


def impossible_graphs(engine: Tree) -> Iterator[str]:
    for batch in engine["cuda_graph_bs"]:
        if batch < 1:
            yield f"engine.cuda_graph_bs holds {batch}, which is no batch; each must be at least 1"


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


def foreign_backends(tree: Tree) -> Iterator[str]:
    engine = tree["engine"]["name"]
    others = [name for name, entry in tree["backends"].items() if entry.get("engine", "sglang") != engine]
    if others and engine in ENGINES:
        yield (
            f"engine.name is {engine}, and {others[0]} among the backends chosen is not {ENGINES[engine]}'s; choose the engine with "
            f"engine={engine}, which brings its own, or name others with backend=[...]"
        )


def refuse_foreign_backends(tree: Tree) -> None:
    """Raises `UsageError` for an engine without rules, and for backends that are another engine's."""
    for complaint in (*unknown_engine(tree["engine"]["name"]), *foreign_backends(tree)):
        raise UsageError(complaint)


def unknown_engine(name: str) -> Iterator[str]:
    if name not in WITH_RULES:
        yield f"engine.name names {name!r}, an engine whose rules attnpin does not know; {instead(name, WITH_RULES)}"


def unknown_names(tree: Tree) -> Iterator[str]:
    """Backends that no chosen entry describes, and features no limit speaks of."""
    backends = {name for backend, entry in tree["backends"].items() for name in (backend, *(entry.get("aliases") or ()))}
    asked = [(key, _at(tree, key)) for key in (*BACKEND_KEYS, "model.required_backend")]
    asked += [("measure.backends", name) for name in tree["measure"]["backends"]]
    asked += [("measure.variants", variant.get("backend", "")) for variant in tree["measure"]["variants"]]
    for key, name in asked:
        if name is not None and name not in backends:
            yield f"{key} names {name!r}, which is not among the backends chosen; {instead(name, backends)}"
    for name in tree["engine"]["features"]:
        if name not in FEATURES:
            yield f"engine.features names {name!r}, which is no known feature; {instead(name, FEATURES)}"


def _at(tree: Tree, key: str) -> Any:
    value: Any = tree
    for part in key.split("."):
        value = value[part]
    return value
