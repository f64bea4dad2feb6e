"""Each backend that the engine driver drives either declares a feature or is refused it with a reason that names it."""

from __future__ import annotations

from functools import cache

import pytest

from backends.cell import Phase
from backends.deviation import Step
from tests.backends.sglang.declared import Declared, declared, driven
from tests.backends.sglang.features import FEATURES

RULES = ("0.5.16", "0.5.22", "0.5.23")
PAIRS = [(entry, feature) for entry in driven() for feature in FEATURES]
# Of a phase alone, whatever the feature: a backend that does not prefill on Hopper, or wants pages of its own.
OF_THE_BACKEND = ("sm", "attention", "page_size", "phase")


@cache
def found(rules: str) -> list[Declared]:
    return [declared(entry, feature, rules) for entry, feature in PAIRS]


@pytest.mark.parametrize("rules", RULES)
def test_a_backend_that_is_refused_a_feature_is_told_which(rules: str) -> None:
    plain = {each.backend: dict(each.refused) for each in found(rules) if each.feature.name == "plain"}
    for each in found(rules):
        for phase, reasons in each.refused:
            usual = {reason.rule for reason in plain[each.backend].get(phase, ())}
            named = {reason.rule for reason in reasons} - usual
            assert named <= {*each.feature.rules, *OF_THE_BACKEND} and (named or usual), (str(each), phase, reasons)
            assert all(reason.allowed and reason.remedy and reason.source for reason in reasons)


def test_every_feature_is_declared_by_some_backend_in_each_phase_and_refused_by_some_where_limits_speak_of_it() -> None:
    for feature in FEATURES:
        mine = [each for each in found("0.5.22") if each.feature is feature]
        assert {phase for each in mine for phase in each.phases} == set(Phase), feature.name


@pytest.mark.parametrize(
    ("backend", "feature", "phases"),
    [
        ("triton", "sinks", 2),
        ("flashinfer", "sinks", 0),
        ("flex_attention", "window", 0),
        ("torch_native", "soft cap", 0),
        ("fa3", "float8_e5m2 scaled", 0),
        ("flashinfer", "head dim 96", 0),
        ("flashmla", "plain", 0),
        ("flashmla", "verify latent", 2),
        ("trtllm_mha", "verify a tree of 8", 0),
        ("torch_native", "verify a chain of 4", 0),
        ("fa3", "verify a tree of 8", 2),
    ],
)
def test_what_is_known_of_some(backend: str, feature: str, phases: int) -> None:
    one = next(each for each in found("0.5.22") if (each.backend, each.feature.name) == (backend, feature))
    assert len(one.phases) == phases


def test_xqa_verifies_drafts_from_the_release_on_that_hands_it_their_mask() -> None:
    chains = {rules: [each for each in found(rules) if str(each).startswith("trtllm_mha-verify a chain")] for rules in RULES}
    assert not any(each.phases for each in chains["0.5.16"]) and all(each.phases for each in chains["0.5.22"])
    reasons = [reason for each in chains["0.5.16"] for _, against in each.refused for reason in against if reason.rule == "speculation"]
    assert reasons and all("mask" in reason.allowed for reason in reasons)


def test_notes_on_answers_make_them_doubtful_and_declared_deviations_do_not() -> None:
    doubtful = {(each.backend, each.feature.name, phase) for each in found("0.5.22") for phase in each.doubtful}
    assert ("torch_native", "float8_e4m3fn scaled", Phase.DECODE) in doubtful
    assert not {backend for backend, feature, _ in doubtful if feature in ("plain", "window")}


def test_flashinfer_is_doubted_beside_windows_where_it_reads_keys_before_they_are_written() -> None:
    doubted = {rules: [each.doubtful for each in found(rules) if str(each) == "flashinfer-full beside a window"] for rules in RULES}
    assert doubted["0.5.16"] == [(Phase.PREFILL,)] and doubted["0.5.22"] == [()]


@pytest.mark.parametrize("rules", RULES)
def test_deviations_are_declared_where_windows_are_and_where_sums_are_narrow(rules: str) -> None:
    deviating = {(each.backend, each.feature.name): each.deviations for each in found(rules) if each.deviations}
    assert {(backend, feature) for backend, feature in deviating} == {
        *(("triton", feature) for feature in ("window", "full beside a window", "sinks in a window")),
        *(("flashinfer", feature) for feature in ("window", "full beside a window")),
        *((("triton", "group of 1"),) if rules == "0.5.16" else ()),
    }
    assert all(one.narrow_sums == (feature == "group of 1") for (_, feature), known in deviating.items() for one in known)
    assert {(one.steps, one.keys) for one in deviating["triton", "window"]} == {((Step.DECODE,), -1)}
    assert {(one.steps, one.keys) for one in deviating["flashinfer", "window"]} == {((Step.FRESH,), None)}


def test_the_table_holds_what_is_asked_of_backends() -> None:
    def has(**wanted: object) -> bool:
        return any(all(getattr(feature, key) == value for key, value in wanted.items()) for feature in FEATURES)

    assert all(has(group=group) for group in (1, 2, 4, 5, 6, 7, 8, 12, 16))
    assert all(has(head_dim=width) for width in (64, 96, 128, 192, 256))
    assert len({feature.name for feature in FEATURES}) == len(FEATURES)
