"""Values that are of the right type and still make no sense, each refused with the key, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from backends.question import FEATURES
from tuner.engines import WITH_RULES
from tuner.errors import UsageError
from tuner.geometry import impossible_geometry
from tuner.suggest import instead

Tree = dict[str, Any]
Bound = tuple[str, Callable[[float], bool]]

COUNT: Bound = ("at least 1", lambda value: value >= 1)
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
    yield from figures_beside_auto(tree["gpu"])
    yield from unknown_names(tree)


def out_of_bounds(tree: Tree) -> Iterator[str]:
    for key, (allowed, holds) in BOUNDS.items():
        value = _at(tree, key)
        if value is not None and not (isfinite(value) and holds(value)):
            yield f"{key}={value} is not possible; it must be {allowed}"


def out_of_order(tree: Tree) -> Iterator[str]:
    for smaller, larger in ORDERED:
        if _at(tree, smaller) > _at(tree, larger):
            yield f"{smaller}={_at(tree, smaller)} exceeds {larger}={_at(tree, larger)}; exchange or correct them"


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


def unknown_names(tree: Tree) -> Iterator[str]:
    """An engine without rules, backends that no chosen entry describes, and features no limit speaks of."""
    if (engine := tree["engine"]["name"]) not in WITH_RULES:
        yield f"engine.name names {engine!r}, an engine whose rules attnpin does not know; {instead(engine, WITH_RULES)}"
    backends = {name for backend, entry in tree["backends"].items() for name in (backend, *(entry.get("aliases") or ()))}
    asked = [(key, _at(tree, key)) for key in BACKEND_KEYS]
    asked += [("measure.backends", name) for name in tree["measure"]["backends"]]
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
