"""What a rejection by vLLM's limits always carries, whatever is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.asked import Asked
from backends.capability import DECISIVE
from backends.judgement import judge
from backends.vocabulary import WORDS
from store.scenario import NO_DRIVER
from tests.asking import gpu
from tests.engine.vllm.configurations import configurations
from tests.tuner.engines.vllm.served import RULES, entries, on_vllm
from tests.tuner.scenarios import H100
from tuner.engines.vllm import verbs
from tuner.engines.vllm.orders import ORDERS
from tuner.limits import sift
from tuner.schema.engine import KV_CACHE_DTYPES, KvCacheDtype

DRAWN = tuple(configurations(300, seed=1))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DRAWN))
def test_every_rejection_says_what_was_asked_what_is_allowed_and_where_that_is_written(drawn: object) -> None:
    question = verbs.question_for(drawn, RULES, 16)  # type: ignore[arg-type]
    for entry in entries():
        for reason in judge(entry.capability, Asked(question)).reasons:
            assert reason.asked and reason.allowed and reason.remedy
            assert reason.source.startswith("vllm/") and reason.source.endswith("(0.33.0)")
            values = {str(value) for kind in Asked(question).kinds for value in WORDS[reason.rule].ask(question, kind.layer) or ()}
            assert any(value in reason.asked for value in values - {"wanted"}) or values == {"wanted"}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DRAWN), st.sampled_from(range(len(entries()))))
def test_a_limit_less_never_takes_a_backend_away(drawn: object, index: int) -> None:
    question = verbs.question_for(drawn, RULES, 16)  # type: ignore[arg-type]
    capability = entries()[index].capability
    kept = not judge(capability, Asked(question)).reasons
    for limit in capability.limits:
        others = replace(capability, limits=tuple(one for one in capability.limits if one is not limit))
        assert not kept or not judge(others, Asked(question)).reasons


def test_every_backend_is_listed_with_its_reasons_or_as_one_that_attnpin_cannot_drive() -> None:
    scenario = on_vllm(H100)
    settled = verbs.settled(scenario, entries(), RULES)
    sifted = sift(scenario, entries(), settled.default)
    assert {exclusion.backend for exclusion in sifted.exclusions} == {entry.name for entry in entries()}
    undriven = {one.backend for one in sifted.exclusions if one.reasons[0].rule == NO_DRIVER}
    assert undriven == set(settled.takers) and "FLASH_ATTN" in undriven
    assert all(
        one.reasons[0].source == f"conf/backend/vllm/{one.backend.lower()}.yaml" for one in sifted.exclusions if one.backend in undriven
    )


def test_every_backend_of_an_order_has_an_entry_for_its_device_and_attention() -> None:
    named = {entry.name: entry for entry in entries()}
    for order in ORDERS:
        device, attention = dict(order.when)["device"][0], dict(order.when)["attention"][0]
        for name in order.backends:
            limits = {limit.rule: limit.allowed for limit in named[name].capability.limits if limit.rule in DECISIVE and not limit.when}
            assert device in limits["device"] and attention in limits["attention"], (order.id, name)


@pytest.mark.parametrize("sm", [80, 86, 89, 90, 100, 103, 110, 120, 121])
def test_a_gpu_of_unknown_compute_capability_is_judged_on_trust(sm: int) -> None:
    known, unknown = (verbs.settled(on_vllm(gpu(number)), entries(), RULES).takers for number in (sm, None))
    assert set(known) <= set(unknown)


def test_the_words_for_a_kv_dtype_are_those_of_all_engines() -> None:
    assert {word for words in KV_CACHE_DTYPES.values() for word in words} == {member.name for member in KvCacheDtype}
