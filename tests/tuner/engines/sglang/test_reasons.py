"""Reasons that SGLang's authors recorded: the data, and what a path carries of it."""

from __future__ import annotations

import pytest

from backends.question import KNOWN_SM
from store.engines.recorded_reason import ReasonHere, RecordedReason
from tests.asking import entries, gpu, mla_model
from tests.tuner.scenarios import LLAMA, RTX5090, scenario
from tuner.engines.recorded import affected, reason_here
from tuner.engines.sglang.resolution import answer_to, path_of
from tuner.engines.sglang.resolver import reasons
from tuner.engines.sglang.resolver.record import Rule, Sets
from tuner.engines.sglang.resolver.steps import STEPS

RULES = [rule for step in STEPS for rule in step.rules if rule.reason]


def recorded(sm: int, packages: dict[str, str] | None = None, **asked: object) -> dict[str, ReasonHere]:
    path = path_of(answer_to(scenario(gpu(sm), **asked), "0.5.22"), packages)  # type: ignore[arg-type]
    return {step.rule: step.recorded for step in path if step.recorded}


def reason_of(rule: Rule) -> RecordedReason:
    assert rule.reason is not None
    return rule.reason


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_reason_says_where_it_was_recorded_and_speaks_of_what_its_rule_chooses(rule: Rule) -> None:
    reason, test = reason_of(rule), reason_of(rule).test
    assert isinstance(rule.then, Sets) and test.chosen in dict(rule.then.values).values() and test.against != test.chosen
    assert {test.chosen, test.against} <= set(entries())
    assert reason.sources and all(link.startswith(("https://github.com/", "sglang/srt/")) for link in reason.sources)
    assert test.sm and set(test.sm) <= set(KNOWN_SM) and test.phases and {shape.phase for shape in test.shapes} <= set(test.phases)
    assert (reason.package is None) == (reason.symptom is None) and 0 <= test.slower_by <= 1


def test_every_reason_that_was_written_down_has_a_rule() -> None:
    written = {value for value in vars(reasons).values() if isinstance(value, RecordedReason)}
    assert written == {rule.reason for rule in RULES}


def test_fa3_on_hopper_carries_the_releases_that_it_was_chosen_for() -> None:
    (found,) = recorded(90, {"flashinfer": "0.6.14", "torch": "2.11.0"}).values()
    assert (found.reason, found.installed, found.affected) == (reasons.HOPPER, "0.6.14", False)
    assert recorded(90, None)["default.mha.hopper"] == ReasonHere(reasons.HOPPER, None, None)


def test_a_reason_counts_only_on_the_gpus_it_was_recorded_for() -> None:
    assert recorded(80).keys() == recorded(89).keys() == {"default.mha.flashinfer"}
    assert recorded(75) == recorded(87) == {}
    assert path_of(answer_to(scenario(RTX5090), "0.5.22"))[0].recorded is not None


def test_a_rule_that_decided_nothing_brings_no_reason() -> None:
    assert recorded(90, attention_backend="triton") == {}


def test_latent_attention_has_reasons_of_its_own() -> None:
    deepseek = mla_model(architecture="DeepseekV3ForCausalLM")
    assert {rule: here.reason for rule, here in recorded(100, asked=deepseek).items()} == {"mla.trtllm": reasons.TRTLLM_MLA}
    assert {rule: here.reason for rule, here in recorded(90, asked=deepseek).items()} == {"default.mla.hopper": reasons.MLA_HOPPER}
    assert LLAMA.attention is not deepseek.attention


@pytest.mark.parametrize(
    ("installed", "bad"),
    [
        *(("0.5.3", False), ("0.6.0", True), ("0.6.0rc1", False), ("0.6.1", True), ("0.6.3.post1", True), ("0.6.4", False)),
        *(("0.6.14+cu130", False), ("0.6.1+cu128", True), ("0.7.1", False), ("a source tree", None)),
    ],
)
def test_a_release_lies_between_the_first_bad_and_the_first_good_one_or_it_does_not(installed: str, bad: bool | None) -> None:
    assert affected(reasons.HOPPER, installed) is bad


def test_without_a_range_or_an_installed_release_nothing_is_said() -> None:
    assert affected(reasons.TRTLLM_MLA, "0.6.14") is None and affected(reasons.HOPPER, None) is None
    assert reason_here(reasons.HOPPER, 90, {"flashinfer": ""}) == ReasonHere(reasons.HOPPER, None, None)
    assert reason_here(reasons.HOPPER, 100, {}) is None and reason_here(None, 90, {}) is None
