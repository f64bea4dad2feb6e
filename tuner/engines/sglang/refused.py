"""Which backends SGLang would not start with, whatever their kernels can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from backends.cell import Phase
from backends.reason import Reason
from store.decision import Pair
from store.runs.run import DefaultPick
from store.scenario import Exclusion, Scenario
from tuner.engines.sglang.pick import pin_flags
from tuner.engines.sglang.request import request_for
from tuner.engines.sglang.resolution import answered, rule_named, told
from tuner.engines.sglang.resolver.names import EVERYWHERE
from tuner.engines.sglang.resolver.outcome import Refusal
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.steps import MODELS

OF_MODELS = frozenset(rule.id for model in MODELS for step in model.STEPS for rule in step.rules)
THIRD_PARTY = "names.unknown"  # who brings a backend of their own registers it with the server too

Refusals = tuple[Refusal, ...]


def refused(scenario: Scenario, backend: str, default: DefaultPick, packages: Mapping[str, str] | None = None) -> tuple[Exclusion, ...]:
    """The phases that SGLang refuses to serve with ``backend``, by its rules for the model or for the other settings.

    What a rule for the model asks counts in both phases, also where it does not look at the split flags. Another rule counts in
    a phase where it refuses the backend there too beside the default in the other.
    """
    request = request_for(scenario, default.rules_version, packages)
    whole = _on_account_of_it(request, told(request, backend))
    if not whole:
        return ()
    if about_model := tuple(each for each in whole if each.rule in OF_MODELS):
        return (Exclusion(backend, None, _reasons(about_model, request)),)
    beside = {Phase.PREFILL: Pair(backend, default.decode), Phase.DECODE: Pair(default.prefill, backend)}
    alone = {phase: _on_account_of_it(request, _split(request, pair)) for phase, pair in beside.items()}
    return tuple(Exclusion(backend, phase.value, _reasons(found, request)) for phase, found in alone.items() if found)


def refusal_of(
    scenario: Scenario, pair: Pair, page_size: int, default: DefaultPick, packages: Mapping[str, str] | None = None
) -> str | None:
    """Why a server with the flags that pin ``pair`` (backend names) at ``page_size`` would not start; None where it would."""
    flags = dict(pin_flags(pair, default, page_size, scenario.engine, scenario.model.architecture))
    request = request_for(scenario, default.rules_version, packages)
    return _not_started(request, with_flags(request, flags))


def _not_started(request: Request, asked: Request) -> str | None:
    found = _on_account_of_it(request, asked)
    return f"SGLang {request.version} would not start with it: {found[0].text} ({found[0].rule})" if found else None


def with_flags(request: Request, flags: Mapping[str, str]) -> Request:
    """With these options, without dashes, and no other choice of backends and page size."""
    return replace(
        request,
        attention_backend=flags.get("attention-backend"),
        prefill_attention_backend=flags.get("prefill-attention-backend"),
        decode_attention_backend=flags.get("decode-attention-backend"),
        page_size=int(flags["page-size"]) if "page-size" in flags else None,
        kv_cache_dtype=flags.get("kv-cache-dtype", request.kv_cache_dtype),
    )


def change_by(request: Request, flags: Mapping[str, str], more: Mapping[str, str]) -> str | None:
    """What is served otherwise where ``more`` options are written beside ``flags``, though they only say what ``flags`` came to; None =
    nothing is. (Mamba models have their page size set late, and a check before it refuses one that is written.)"""
    before, after = with_flags(request, flags), with_flags(request, {**flags, **more})
    if (refusal := _not_started(before, after)) is not None:
        return refusal
    one, other = answered(before).resolution, answered(after).resolution
    changed = [name for name in ("prefill", "decode", "page_size") if getattr(one, name) != getattr(other, name)]
    return None if not changed else f"SGLang {request.version} would take {changed[0].replace('_', ' ')} {getattr(other, changed[0])} then"


def _on_account_of_it(request: Request, asked: Request) -> Refusals:
    """What speaks against ``asked`` and not against the server as it is. A rule for the model may refuse the model's own default, and
    counts as long as it lets some backend pass."""
    refusals = (each for each in answered(asked).refusals if each.rule != THIRD_PARTY)
    return tuple(each for each in refusals if not _refuses(each.rule, request) or _lets_another_pass(each.rule, request))


def _lets_another_pass(rule: str, request: Request) -> bool:
    return rule in OF_MODELS and not all(_refuses(rule, told(request, backend)) for backend in EVERYWHERE)


def _refuses(rule: str, request: Request) -> bool:
    return any(each.rule == rule for each in answered(request).refusals)


def _split(request: Request, pair: Pair) -> Request:
    return replace(request, attention_backend=None, prefill_attention_backend=pair.prefill, decode_attention_backend=pair.decode)


def _reasons(refusals: Iterable[Refusal], request: Request) -> tuple[Reason, ...]:
    return tuple(_reason(refusal, request) for refusal in refusals)


def _reason(refusal: Refusal, request: Request) -> Reason:
    said, _, remedy = refusal.text.partition("; ")
    rule = rule_named(refusal.rule)
    return Reason(
        rule=refusal.rule,
        asked=f"SGLang {request.version} with {request.model.architecture}",
        allowed=f"backends that its rules let start: {said} ({rule.because.rstrip('.')})",
        remedy=remedy or "choose another backend",
        source=rule.source,
    )
