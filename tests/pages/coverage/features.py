"""What attention is asked to do, feature by feature: which cells of a run show one, and a scenario that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from backends.cell import Cell, Phase
from backends.model import Attention, LayerKind
from store.scenario import Scenario
from tuner.settings import Settings, compose

HOST = ("gpu=h200", "engine.version=0.5.16")  # where everything under examples/ was measured
MHA = ("model=qwen3_8b",)
WINDOWED = ("model=gemma3_27b",)  # SGLang gives windows to the architectures that it knows to have them
MLA = ("model=deepseek_v3", "engine.tensor_parallel=8")
PLAIN, LATENT, LATENT_CHAIN = "plain heads", "latent attention (MLA)", "verify steps of latent heads, chain of 4"
USUAL_HEAD_DIM, ODD_GROUPS = 128, (5, 6, 7, 12)
E4M3, E5M2 = "FP8 KV cache, e4m3", "FP8 KV cache, e5m2"
NARROW = {"float8_e4m3fn": E4M3, "float8_e5m2": E5M2}
DECODE, VERIFY, FRESH, PREFIX = "decode", "verify step", "fresh prefill", "prefill on a prefix"
USUAL = {DECODE: Phase.DECODE, FRESH: Phase.PREFILL, PREFIX: Phase.PREFILL}
VERIFIED = {VERIFY: Phase.PREFILL}  # SGLang's own default side: --speculative-attention-mode
MIXED = {FRESH: Phase.PREFILL, PREFIX: Phase.PREFILL}

Change = Callable[[Scenario], Scenario]


@dataclass(frozen=True)
class Feature:
    """``request``: a model that has it, or that ``change`` gives it to. ``places``: kinds of steps that can have it, each of a phase.
    ``tested``: its names in tests/backends/sglang/features.py."""

    name: str
    request: tuple[str, ...] = MHA
    change: Change = lambda scenario: scenario
    tested: tuple[str, ...] = ()
    places: Mapping[str, Phase] = field(default_factory=lambda: USUAL)


@cache
def settings_of(request: tuple[str, ...]) -> Settings:
    return compose([*HOST, *request])


def features() -> tuple[Feature, ...]:
    return (
        Feature(PLAIN, tested=("plain",)),
        Feature(LATENT, MLA, tested=("latent",)),
        Feature("sliding window", WINDOWED, tested=("window",)),
        Feature("attention sinks", change=_layers(sinks=True), tested=("sinks", "sinks in a window")),
        Feature("soft cap", change=_capped(50.0), tested=("soft cap",)),
        Feature("unequal K and V widths", change=_layers(head_dim=192, value_head_dim=128), tested=("unequal widths",)),
        *(_head_dim(width) for width in (64, 96, 192, 256)),
        *(_group(size) for size in ODD_GROUPS),
        Feature(E4M3, change=_engine(kv_cache_dtype="fp8_e4m3"), tested=_scaled("float8_e4m3fn")),
        Feature(E5M2, change=_engine(kv_cache_dtype="fp8_e5m2"), tested=_scaled("float8_e5m2")),
        Feature("verify steps, chain of 4", (*MHA, *_drafted(1)), tested=("verify a chain of 4",), places=VERIFIED),
        Feature("verify steps, tree of 8", (*MHA, *_drafted(4)), tested=("verify a tree of 8",), places=VERIFIED),
        Feature(LATENT_CHAIN, (*MLA, *_drafted(1)), tested=("verify latent",), places=VERIFIED),
        Feature("mixed steps", (*MHA, "engine.mixed_chunk=true"), tested=("mixed chunks",), places=MIXED),
        Feature("deterministic", (*MHA, "engine.features=[deterministic]"), tested=("deterministic",)),
    )


def _head_dim(width: int) -> Feature:
    return Feature(f"head dim {width}", change=_layers(head_dim=width, value_head_dim=width), tested=(f"head dim {width}",))


def _group(size: int) -> Feature:
    return Feature(f"{size} query heads a KV head", change=_layers(query_heads=4 * size, kv_heads=4), tested=(f"group of {size}",))


def _scaled(dtype: str) -> tuple[str, str]:
    return f"{dtype} without scales", f"{dtype} scaled"


def shown(scenario: Scenario, cell: Cell, kv_dtype: str) -> Iterator[str]:
    """Features that an arm on ``cell`` shows; `PLAIN` where it has no other."""
    latent = scenario.model.attention is Attention.MLA
    found = list(_of_layer(cell.layer, latent))
    found += [name for wanted, name in ((scenario.model.logit_softcap, "soft cap"), (cell.mixed, "mixed steps")) if wanted]
    found += [f"verify steps{' of latent heads' if latent else ''}, {_drafting(cell)}"] if cell.verifies else []
    found += [NARROW[kv_dtype]] if kv_dtype in NARROW else []
    found += ["deterministic"] if "deterministic" in scenario.engine.features else []
    yield from found or [PLAIN]


def _of_layer(layer: LayerKind, latent: bool) -> Iterator[str]:
    if latent:
        yield LATENT
        return
    widths = (layer.head_dim, layer.value_head_dim)
    wanted: tuple[tuple[Any, str], ...] = (
        (layer.sliding_window, "sliding window"),
        (layer.sinks, "attention sinks"),
        (widths[0] != widths[1], "unequal K and V widths"),
        (widths[0] == widths[1] != USUAL_HEAD_DIM, f"head dim {layer.head_dim}"),
        (layer.group in ODD_GROUPS, f"{layer.group} query heads a KV head"),
    )
    yield from (name for is_so, name in wanted if is_so)


def _drafting(cell: Cell) -> str:
    chain = cell.draft == tuple(range(-1, len(cell.draft) - 1))
    return f"{'chain' if chain else 'tree'} of {len(cell.draft)}"


def _drafted(topk: int) -> tuple[str, ...]:
    tokens = 4 if topk == 1 else 8
    drafts = {"algorithm": "EAGLE3", "topk": topk, "steps": 3, "draft_tokens": tokens}
    return tuple(f"engine.speculative.{name}={value}" for name, value in drafts.items())


def _layers(**fields: Any) -> Change:
    def change(scenario: Scenario) -> Scenario:
        kinds = tuple(replace(kind, **fields) for kind in scenario.model.layers)
        return replace(scenario, model=replace(scenario.model, layers=kinds))

    return change


def _capped(cap: float) -> Change:
    return lambda scenario: replace(scenario, model=replace(scenario.model, logit_softcap=cap))


def _engine(**fields: Any) -> Change:
    return lambda scenario: replace(scenario, engine=replace(scenario.engine, **fields))
