"""What each arm would serve on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.arm import Arm, Provider
from backends.capability import Capability
from backends.cell import Phase
from backends.gpu import Gpu
from backends.limits import Limit
from backends.serving_jit import Builds
from store.engines.serving_terms import ServingTerms
from store.scenario import Role
from tests.asking import entries, gpu, question
from tests.tuner.scenarios import H100, scenario
from tuner.engines.sglang.memory import server_for
from tuner.plan import plan_of
from tuner.planning.terms import lacking, serving_terms, unused_tokens

ALL = tuple(entries().values())


def terms_on(board: Gpu = H100) -> dict[str, ServingTerms]:
    plan = plan_of(scenario(board), ALL)
    assert [terms.arm for terms in plan.terms] == [arm.name for arm in plan.arms]
    return {terms.arm: terms for terms in plan.terms}


def test_a_wider_page_holds_fewer_tokens_by_less_than_a_page() -> None:
    asked = scenario()
    arms = [Arm("flashinfer", Provider.ENGINE, "", page_size, "bfloat16") for page_size in (1, 64)]
    narrow, wide = (terms.pool_tokens for terms in serving_terms(asked, ALL, "0.5.22", arms))
    assert narrow == server_for(asked, "0.5.22", 1).pool_tokens
    assert narrow is not None and wide is not None and wide % 64 == 0 and 0 <= narrow - wide < 64


def test_the_capacity_of_an_unknown_gpu_is_unknown() -> None:
    assert {terms.pool_tokens for terms in terms_on(gpu(90, memory_bytes=None)).values()} == {None}


@pytest.mark.parametrize("page_size", [1, 2, 16, 64])
def test_a_request_leaves_on_average_half_a_page_less_half_a_token_empty(page_size: int) -> None:
    lengths = range(1, 4 * page_size + 1)
    assert unused_tokens(page_size) == sum(-length % page_size for length in lengths) / len(lengths)


def test_an_arm_lacks_what_would_speak_against_it_if_it_were_asked() -> None:
    found = terms_on()
    assert "deterministic" in found["torch_native/p1"].lacks and "deterministic" not in found["fa3/p1"].lacks
    assert {"cross_attention", "speculative"} <= set(found["flex_attention/p1"].lacks)


def test_a_feature_is_lacking_beside_those_that_are_asked_whether_it_is_asked_too_or_not() -> None:
    capability = entries()["flashinfer"].capability
    assert "radix_cache" not in lacking(capability, question(), Phase)
    assert "radix_cache" in lacking(capability, question(features=("deterministic",)), Phase)
    assert "radix_cache" in lacking(capability, question(features=("deterministic", "radix_cache")), Phase)


@pytest.mark.parametrize(("role", "lacks"), [(Role.DECODE, ()), (Role.PREFILL, ("deterministic",)), (Role.UNIFIED, ("deterministic",))])
def test_an_arm_lacks_only_what_a_phase_of_its_server_lacks(role: Role, lacks: tuple[str, ...]) -> None:
    in_prefill = Limit("deterministic", (), "made up", when=(("phase", ("prefill",)),))
    backend = replace(entries()["triton"], capability=Capability((in_prefill,)))
    [terms] = serving_terms(scenario(role=role), [backend], "0.5.22", [Arm("triton", Provider.ENGINE, "", 1, "bfloat16")])
    assert terms.lacks == lacks


def test_when_an_arm_builds_kernels_comes_from_its_backends_data() -> None:
    found = terms_on()
    assert {name: terms.jit.builds for name, terms in found.items() if terms.jit} == {
        "triton/p1": Builds.FIRST_USE,
        "torch_native/p1": Builds.NEVER,
        "flex_attention/p1": Builds.PER_SHAPE,
        "fa3/p1": Builds.NEVER,
        "fa4/p1": Builds.PER_SHAPE,
        "flashinfer/p1": Builds.FIRST_USE,
    }
    assert found["flex_attention/p1"].may_compile_while_serving is True and found["fa3/p1"].may_compile_while_serving is False
