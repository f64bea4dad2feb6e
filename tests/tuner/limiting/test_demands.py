"""What a scenario demands of whichever backend is pinned: the model's own, one that its engine starts with, the features it names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.cell import Phase
from backends.model import LayerKind
from reports.plan import render_text
from store.decision import Pair
from store.plan import Plan
from store.scenario import Exclusion, Speculation
from tests.asking import FULL, entries, gpu, model
from tests.tuner.scenarios import H100, LLAMA, scenario
from tuner.engines.sglang.pick import default_pick
from tuner.engines.sglang.refused import refusal_of, refused
from tuner.errors import UsageError
from tuner.limits import Sifted, sift
from tuner.plan import make_plan, plan_of
from tuner.settings import compose

ALL = tuple(entries().values())
WINDOWED = (LayerKind("full", 8, 32, 8, 128, 128), LayerKind("window", 24, 32, 8, 128, 128, 1024))


def sifted(case: Any, rules: str = "0.5.22") -> Sifted:
    return sift(case, ALL, default_pick(case, ALL, rules))


def reasons(found: tuple[Exclusion, ...], backend: str) -> dict[str | None, list[str]]:
    return {one.phase: [reason.rule for reason in one.reasons] for one in found if one.backend == backend}


def requiring(backend: str, *named: str) -> Plan:
    """As `tuner.settings` makes it: a required backend is a choice."""
    return plan_of(scenario(H100, model(required_backend=backend), attention_backend=backend, backends=named), ALL)


def test_a_required_backend_stands_where_the_engine_would_pick_another_and_both_are_said() -> None:
    plan = make_plan(compose(["model=qwen3_8b", "gpu=h200", "model.required_backend=triton"]))
    assert plan.default.backends == "triton"
    assert "model.required_backend=triton is the model's requirement and is kept; by itself SGLang would run fa3" in plan.notes
    assert "would run triton: the model's requirement (model.required_backend=triton) is kept" in render_text(plan)


def test_every_other_backend_is_barred_by_the_requirement_with_all_that_a_reason_has() -> None:
    plan = requiring("triton")
    assert [arm.backend for arm in plan.arms] == ["triton"]
    [reason] = next(one.reasons for one in plan.exclusions if one.backend == "fa3")
    assert (reason.rule, reason.asked, reason.allowed) == (
        "required_backend", "model.required_backend=triton", "triton, which the model cannot do without",
    )  # fmt: skip
    assert reason.remedy and reason.source


def test_what_a_limit_says_stands_before_a_requirement() -> None:
    assert reasons(requiring("triton").exclusions, "flashmla") == {None: ["attention"]}


@pytest.mark.parametrize("backend", ["fa3", "flashinfer"])
def test_a_rival_of_the_requirement_that_is_named_is_measured_and_barred(backend: str) -> None:
    plan = requiring("triton", backend)
    assert {arm.backend for arm in plan.arms} == {"triton", backend}
    barred = {terms.arm: reasons(terms.barred, backend) for terms in plan.terms}
    assert barred == {"triton/p1": {}, f"{backend}/p1": {None: ["required_backend"]}}


def test_a_choice_against_the_requirement_is_refused() -> None:
    with pytest.raises(UsageError, match="engine.decode_attention_backend=fa3 contradicts model.required_backend=triton"):
        compose(["model.required_backend=triton", "engine.decode_attention_backend=fa3"])


def test_a_required_backend_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="model.required_backend names 'tritan'"):
        compose(["model.required_backend=tritan"])


@pytest.mark.parametrize(
    ("architecture", "backend", "rule"),
    [
        ("GptOssForCausalLM", "flashinfer", "allowed.gpt-oss"),
        ("Llama4ForConditionalGeneration", "flashinfer", "allowed.llama4"),
        ("Olmo2ForCausalLM", "flashinfer", "allowed.olmo2"),
        ("IQuestQ1ForCausalLM", "triton", "iquest.other-backend"),
        ("Lfm2ForCausalLM", "triton", "allowed.lfm2"),
    ],
)
def test_a_backend_that_sglang_refuses_for_the_model_is_no_arm(architecture: str, backend: str, rule: str) -> None:
    found = sifted(scenario(H100, model(FULL, architecture=architecture)))
    assert backend not in {arm.backend for arm in found.arms}
    assert reasons(found.exclusions, backend) == {None: [rule]}


def test_a_default_that_its_model_refuses_does_not_keep_out_the_backends_that_it_takes() -> None:
    """SGLang 0.5.16 picks none for windowed EXAONE and refuses to start unless one is named."""
    found = sifted(scenario(H100, model(*WINDOWED, architecture="Exaone4ForCausalLM"), version="0.5.16"), "0.5.16")
    assert not reasons(found.exclusions, "triton")


def test_what_sglang_refuses_whichever_backend_is_asked_for_is_held_against_none() -> None:
    case = scenario(H100, speculation=Speculation("NO_SUCH_ALGORITHM"))
    default = default_pick(case, ALL, "0.5.22")
    rules = {reason.rule for entry in ALL for one in refused(case, entry.name, default) for reason in one.reasons}
    assert "compat.cutedsl-mla-gpu" in rules and "draft.unknown" not in rules


def test_a_backend_of_a_third_party_is_not_refused_for_its_name() -> None:
    case = scenario(H100)
    assert refused(case, "one_of_mine", default_pick(case, ALL, "0.5.22")) == ()


def test_a_backend_may_be_refused_in_one_phase() -> None:
    case = scenario(gpu(90), version="0.5.16")
    [found] = refused(case, "trtllm_mha", default_pick(case, ALL, "0.5.16"))
    assert (found.phase, [reason.rule for reason in found.reasons]) == (Phase.PREFILL.value, ["compat.trtllm-mha-prefill-old"])


def test_a_pair_is_asked_for_as_its_pin_would_spell_it() -> None:
    case = scenario(H100, model(FULL, architecture="Olmo2ForCausalLM"))
    default = default_pick(case, ALL, "0.5.22")
    told = "Olmo 2 does not take flashinfer; set --attention-backend to fa3 or triton (allowed.olmo2)"
    assert refusal_of(case, Pair("flashinfer", "flashinfer"), 1, default) == f"SGLang 0.5.22 would not start with it: {told}"
    assert refusal_of(case, Pair("triton", "triton"), 1, default) is None


def test_an_arm_that_lacks_a_feature_is_measured_where_it_is_named_and_barred_there() -> None:
    lacking = {"features": ("deterministic", "radix_cache")}
    assert reasons(sifted(scenario(**lacking)).exclusions, "flashinfer") == {None: ["radix_cache"]}
    found = sifted(scenario(**lacking, backends=("flashinfer",)))
    assert {arm.backend for arm in found.arms} == {"fa3", "flashinfer"}
    assert reasons(found.barred, "flashinfer") == {None: ["radix_cache"]} and not reasons(found.exclusions, "flashinfer")


def test_a_name_does_not_make_a_backend_run_that_cannot() -> None:
    found = sifted(scenario(features=("deterministic",), backends=("flashmla", "hpc_ops")))
    assert {arm.backend for arm in found.arms} == {"fa3"} and reasons(found.exclusions, "flashmla") == {None: ["attention"]}


def test_a_default_that_lacks_a_feature_is_not_measured_as_an_incumbent() -> None:
    found = sifted(scenario(H100, features=("deterministic",), attention_backend="torch_native", backends=("torch_native",)))
    assert not found.barred and reasons(found.exclusions, "torch_native") == {None: ["deterministic"]}


def test_a_barred_arm_lacks_what_bars_it() -> None:
    plan = plan_of(scenario(features=("deterministic", "radix_cache"), backends=("flashinfer",)), ALL)
    lacks = {terms.arm: terms.lacks for terms in plan.terms}
    assert "radix_cache" in lacks["flashinfer/p1"] and "radix_cache" not in lacks["fa3/p1"]


def test_without_a_demand_no_arm_is_barred() -> None:
    assert not sifted(replace(scenario(backends=("flashinfer",)), model=LLAMA)).barred
