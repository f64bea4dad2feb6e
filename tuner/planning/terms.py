"""What each arm would serve on, from the engine's rules and the backends' data: KV capacity, pages, features, late builds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.arm import Arm
from backends.capability import BackendEntry, Capability
from backends.cell import Phase
from backends.judgement import reasons
from backends.knob import KV_DTYPE
from backends.question import FEATURES, Question
from store.engines.serving_terms import ServingTerms
from store.scenario import Exclusion, Scenario
from tuner.engines.lookup import rules_of


def serving_terms(
    scenario: Scenario, entries: Iterable[BackendEntry], rules: str, arms: Iterable[Arm], barred: tuple[Exclusion, ...] = ()
) -> tuple[ServingTerms, ...]:
    """The terms of every arm; ``barred`` are those of them that may not be pinned.

    SGLang sizes its KV pool when the weights are loaded and before a backend is built (sglang/srt/mem_cache/
    kv_cache_configurator.py, _profile_available_bytes): of what an arm brings only its page size and KV dtype change the capacity.
    """
    engine, phases = rules_of(scenario), scenario.engine.role.phases
    named = {entry.name: entry for entry in entries}
    return tuple(
        ServingTerms(
            arm=arm.name,
            pool_tokens=engine.server_for(_served(scenario, arm), rules, arm.page_size).pool_tokens,
            unused_tokens=unused_tokens(arm.page_size),
            lacks=lacking(named[arm.backend].capability, engine.question_for(scenario, rules, arm.page_size), phases),
            jit=named[arm.backend].jit,
            barred=tuple(one for one in barred if one.backend == arm.backend),
        )
        for arm in arms
    )


def _served(scenario: Scenario, arm: Arm) -> Scenario:
    """With the KV dtype that the arm's server is told of."""
    flag = dict(arm.knobs).get(KV_DTYPE)
    return scenario if flag is None else replace(scenario, engine=replace(scenario.engine, kv_cache_dtype=flag))


def unused_tokens(page_size: int) -> float:
    """Slots behind a request's last token in its last page, where every length is as likely as the next."""
    return (page_size - 1) / 2


def lacking(capability: Capability, question: Question, phases: Iterable[Phase]) -> tuple[str, ...]:
    """The features that bring a reason against the backend in some of ``phases``, or would if they were asked for as well."""
    served = tuple(phases)
    return tuple(feature for feature in FEATURES if any(_brings_a_reason(capability, question, feature, phase) for phase in served))


def _brings_a_reason(capability: Capability, question: Question, feature: str, phase: Phase) -> bool:
    others = tuple(other for other in question.features if other != feature)
    asked = replace(question, phase=phase, features=others)
    wanting = replace(asked, features=(*others, feature))
    return bool(set(reasons(capability, wanting)) - set(reasons(capability, asked)))
