"""The order of everything, and `resolve`, which walks through it.

Source: sglang/srt/arg_groups/pipeline.py, run_resolution_pipeline (0.5.16: ServerArgs.__post_init__).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from tuner.engines.sglang.resolver import deployment, graph_compatibility, graphs, late, launch, names, platforms
from tuner.engines.sglang.resolver.backends import base, fallbacks, mla, pages, trtllm_mha, xpu
from tuner.engines.sglang.resolver.drafts import dflash, dspark, eagle, ngram, uno
from tuner.engines.sglang.resolver.drafts import names as draft_names
from tuner.engines.sglang.resolver.features import deterministic, diffusion, kvless, mamba, mamba_checks, scoring, sharded, unified_memory
from tuner.engines.sglang.resolver.kv_cache import fp4, fp4_pairs, nvfp4
from tuner.engines.sglang.resolver.models import (
    allowed,
    deepseek,
    deepseek_v4,
    dense,
    iquest,
    kimi,
    minicpm,
    minimax,
    nemotron,
    qwen,
    single,
    sparse,
)
from tuner.engines.sglang.resolver.narrowing import Likeness, OpenStep, Switches, kind_of, narrowed, opened, written_in
from tuner.engines.sglang.resolver.outcome import Resolution
from tuner.engines.sglang.resolver.record import Rule, Step
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.walk import Walk, walk

MODELS = (deepseek, deepseek_v4, dense, minimax, single, qwen, nemotron, minicpm, iquest, kimi, sparse, allowed)
BACKENDS = (base, pages, mla, trtllm_mha, fallbacks, xpu)
DRAFTS = (draft_names, eagle, ngram, dflash, dspark, uno)

STEPS: tuple[Step, ...] = (
    *names.STEPS,
    deployment.ROLE_STEP,
    kvless.STEP,
    deployment.SPLIT_STEP,
    graphs.WRITTEN_STEP,
    *graph_compatibility.STEPS,
    graphs.ROLES_STEP,
    *platforms.STEPS,
    deployment.NPU_STEP,
    *(step for model in MODELS for step in model.STEPS),
    *mamba.STEPS,
    *mamba_checks.STEPS,
    *deterministic.STEPS,
    *nvfp4.STEPS,
    *(step for backend in BACKENDS for step in backend.STEPS),
    fallbacks.DUAL_CHUNK_STEP,
    graph_compatibility.V3_STEP,
    *fp4.STEPS,
    *fp4_pairs.STEPS,
    late.PAGES_STEP,
    *scoring.STEPS,
    kvless.BACKEND_STEP,
    graph_compatibility.CP_STEP,
    *sharded.STEPS,
    deployment.PIPELINE_STEP,
    *(step for draft in DRAFTS for step in draft.STEPS),
    late.HOST_CACHE_STEP,
    *unified_memory.STEPS,
    *diffusion.STEPS,
    late.CAPABILITIES_STEP,
    *launch.STEPS,
)


def rules() -> tuple[Rule, ...]:
    """Every rule of every release, in order."""
    return tuple(rule for step in STEPS for rule in step.rules)


@cache
def steps_for(version: str) -> tuple[Step, ...]:
    """The steps with the rules of one release, those without any left out."""
    kept = ((step, tuple(rule for rule in step.rules if rule.applies_to(version))) for step in STEPS)
    return tuple(Step(step.name, found, step.first, step.when) for step, found in kept if found)


def steps_like(request: Request) -> tuple[Step, ...]:
    """The steps that a request like this can come to, with the rules that can hold for it."""
    return _possible(request.version, request.machine.kind, kind_of(request.model), written_in(request))


@lru_cache(maxsize=1024)
def _possible(version: str, device: str, model: tuple[Any, ...], written: Switches) -> tuple[Step, ...]:
    left = [step.possible(written) for step in _with_model(version, device, model)]
    return tuple([step for step in left if step is not None])


@lru_cache(maxsize=1024)
def _with_model(version: str, device: str, model: tuple[Any, ...]) -> tuple[OpenStep, ...]:
    return tuple(narrowed(_on_device(version, device), Likeness(version, device, model)))


@cache
def _on_device(version: str, device: str) -> tuple[OpenStep, ...]:
    return tuple(opened(steps_for(version), Likeness(version, device)))


def resolve(request: Request, without: frozenset[str] = frozenset()) -> Resolution:
    """What SGLang makes of ``request``, up to its refusal. Rules named in ``without`` are skipped, which shows what each is for."""
    way = walk(steps_like(request), request, without, to_refusal=True)
    return way.resolution(next(iter(way.refusals), None))


def walked(request: Request) -> Walk:
    """What SGLang would make of ``request`` if it refused nothing."""
    return walk(steps_like(request), request)
