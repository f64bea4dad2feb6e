"""The order of everything, and `resolve`, which walks through it.

Source: sglang/srt/arg_groups/pipeline.py, run_resolution_pipeline (0.5.16: ServerArgs.__post_init__).
"""

from __future__ import annotations

from functools import cache

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
from tuner.engines.sglang.resolver.record import Change, Refusal, Refuses, Resolution, Rule, Settings, Step, applied, differences
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.start import settings_of

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


def resolve(request: Request, without: frozenset[str] = frozenset()) -> Resolution:
    """What SGLang makes of ``request``. Rules named in ``without`` are skipped, which shows what each is for."""
    settings, path, changes = settings_of(request), list[str](), list[Change]()
    for step in steps_for(request.version):
        if not all(condition.holds(request, settings) for condition in step.when):
            continue
        for rule in step.rules:
            if rule.id in without or not rule.holds(request, settings):
                continue
            path.append(rule.id)
            if isinstance(rule.then, Refuses):
                return _resolution(request, settings, path, changes, _refusal(rule, rule.then, request, settings))
            before, settings = settings, applied(rule.then, request, settings)
            changes += differences(before, settings, rule.id)
            if step.first:
                break
    return _resolution(request, settings, path, changes, None)


def _refusal(rule: Rule, effect: Refuses, request: Request, settings: Settings) -> Refusal:
    text = effect.text.format(r=request, s=settings)
    return Refusal(rule.id, text.replace(" None", " unset"), effect.engine_says)


def _resolution(request: Request, settings: Settings, path: list[str], changes: list[Change], error: Refusal | None) -> Resolution:
    return Resolution(
        base=settings.base,
        prefill=settings.prefill_side,
        decode=settings.decode_side,
        draft=settings.draft,
        verify_side=None if settings.algorithm is None else settings.verify_side,
        page_size=settings.page_size,
        kv_dtype=settings.kv_dtype,
        settings=settings,
        changes=tuple(changes),
        error=error,
        path=tuple(path),
    )
