"""The scenarios that are put to SGLang, without asking it."""

from __future__ import annotations

from tests.engine.asked.machines import MACHINES
from tests.engine.asked.models import MODELS
from tests.engine.asked.scenarios import scenarios
from tests.engine.asked.sensible import NOT_ASKED
from tuner.engines.sglang.resolver import architectures
from tuner.engines.sglang.resolver.models import dense, nemotron, qwen
from tuner.engines.sglang.resolver.steps import rules
from tuner.engines.sglang.resolver.versions import READ


def test_a_seed_gives_the_same_scenarios_and_another_gives_others() -> None:
    assert scenarios("0.5.22", 60) == scenarios("0.5.22", 60)
    assert scenarios("0.5.22", 60) != scenarios("0.5.22", 60, seed=2)


def test_scenarios_vary_in_everything_that_rules_look_at() -> None:
    drawn = [scenario.request for version in READ for scenario in scenarios(version, 300)]
    assert {request.machine for request in drawn} == set(MACHINES.values())
    assert len({request.model for request in drawn}) > 60
    for field in ("page_size", "kv_cache_dtype", "tensor_parallel", "attention_backend", "decode_attention_backend", "draft", "graphs"):
        assert len({getattr(request, field) for request in drawn}) > 3, field
    assert any(request.deterministic for request in drawn)


def test_every_architecture_that_a_rule_names_is_asked_about() -> None:
    asked = {model.facts.architecture for model in MODELS}
    named = {*architectures.INKLING[:1], *architectures.MINIMAX_M3, *(name for name in architectures.DEEPSEEK_22 if "NextN" not in name)}
    for condition in (dense.GEMMA4, dense.LLAMA4, dense.OLMO2, dense.GPT_OSS, qwen.QWEN3_5, qwen.QWEN4, nemotron.NEMOTRON_22):
        named |= set(condition.words.split(" or "))
    assert named <= asked


def test_what_is_not_asked_is_named_with_rules_that_exist() -> None:
    known = {rule.id for rule in rules()}
    for one in NOT_ASKED:
        assert set(one.rules) <= known and len(one.because) > 20
