"""What a plan promises to measure is what a worker takes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from backends.arm import Provider
from backends.measurable import unmeasurable
from reports.plan import render_text
from store.plan import Plan
from store.scenario import NO_DRIVER
from tests.asking import entries
from tests.tuner.composed import composed
from tuner.composing import names
from tuner.new_run import stage_of
from tuner.plan import make_plan, plan_of
from tuner.settings import Settings, compose

MODELS = tuple(name for name in names.groups()["model"] if name != "hf")
KV_FLAGS = ("auto", "fp8_e4m3")
UNDRIVEN = (
    (("model=kimi_k2", "model.architecture=Unheard"), "fa3 with the latent heads of Unheard", "DeepseekV3ForCausalLM"),
    (("model=qwen3_8b", "model.dtype=float16", "engine.kv_cache_dtype=bfloat16"), "fa3 with bfloat16 KV cache beside a", "float16"),
    (("model=qwen3_8b", "engine.tensor_parallel=8", "engine.attn_cp_size=2"), "fa3 with engine.attn_cp_size=2", "whole attention calls"),
)


def planned(*overrides: str) -> Plan:
    return make_plan(compose(["gpu=h200", *overrides]))


@cache
def asked(model: str) -> Settings:
    return replace(composed("gpu=h200", f"model={model}", "engine.tensor_parallel=4"), entries=tuple(entries().values()))


def preset(model: str, kv_flag: str) -> Plan:
    scenario = asked(model).scenario
    return plan_of(replace(scenario, engine=replace(scenario.engine, kv_cache_dtype=kv_flag)), asked(model).entries)


@pytest.mark.parametrize("kv_flag", KV_FLAGS)
@pytest.mark.parametrize("model", MODELS)
def test_a_worker_refuses_no_arm_of_a_plan(model: str, kv_flag: str) -> None:
    plan = preset(model, kv_flag)
    kv_dtypes = [arm.kv_dtype for arm in plan.arms]
    refused = list(unmeasurable(stage_of(plan).model, kv_dtypes or [plan.default.kv_cache_dtype]))
    assert bool(plan.arms) is not bool(refused)


@pytest.mark.parametrize("model", ["gemma2_9b", "gemma3_27b"])  # soft caps and windows, windows
def test_what_a_kernel_adapter_refuses_is_left_to_the_engine(model: str) -> None:
    alone = {"torch": "2.14", "flashinfer": "0.6.12", "triton": "3.7"}
    scenario, entries = asked(model).scenario, asked(model).entries
    without, with_engine = (plan_of(scenario, entries, {**alone, **more}) for more in ({}, {"sglang": "0.5.22", "sgl_kernel": "0.4.9"}))
    [reason] = next(one.reasons for one in without.exclusions if one.backend == "flashinfer")
    assert (reason.rule, "sglang" in reason.asked) == ("module", True)
    assert {arm.backend: arm.provider for arm in with_engine.arms}["flashinfer"] is Provider.ENGINE


def test_a_backend_whose_only_driver_refuses_is_a_gap_with_the_drivers_own_source() -> None:
    [entry] = [entry for entry in asked("gemma3_27b").entries if entry.name == "flashinfer"]
    adapter = replace(entry, drivers=entry.drivers[1:])
    [reason] = next(one.reasons for one in plan_of(asked("gemma3_27b").scenario, (adapter,)).exclusions)
    assert (reason.rule, reason.source) == (NO_DRIVER, "backends/flashinfer_paged.py")
    assert reason.asked.startswith("flashinfer with a sliding window of 1024")


@cache
def latent_arms(*packages: str) -> tuple[dict[str, Provider], dict[str, str]]:
    """Arms of DeepSeek-V3 where ``packages`` can be imported, and of each backend the phase that its driver leaves out."""
    settings = composed("gpu=h200", "model=deepseek_v3", "engine.tensor_parallel=8")
    plan = plan_of(settings.scenario, tuple(entries().values()), dict.fromkeys(("torch", "triton", *packages), "1.0"))
    gaps = {one.backend: one.phase for one in plan.exclusions if one.phase and one.reasons[0].rule == NO_DRIVER}
    return {arm.backend: arm.provider for arm in plan.arms}, gaps


def test_an_adapter_that_decodes_alone_is_measured_in_decode_and_a_gap_in_prefill() -> None:
    arms, gaps = latent_arms("sgl_kernel", "flashinfer")
    assert {name: arms[name] for name in ("fa3", "flashinfer", "flashmla")} == dict.fromkeys(
        ("fa3", "flashinfer", "flashmla"), Provider.KERNEL
    )
    assert gaps == dict.fromkeys(("fa3", "flashinfer", "flashmla"), "prefill")
    arms, gaps = latent_arms("sgl_kernel", "flashinfer", "sglang")
    assert arms["fa3"] is Provider.ENGINE and not gaps


@pytest.mark.parametrize(("overrides", "wanted", "allowed"), UNDRIVEN)
def test_what_no_driver_is_measured_on_is_a_gap_that_costs_nothing(overrides: tuple[str, ...], wanted: str, allowed: str) -> None:
    plan = planned(*overrides)
    gaps = [reason for one in plan.exclusions for reason in one.reasons if reason.rule == NO_DRIVER]
    assert any(wanted in reason.asked and allowed in reason.allowed for reason in gaps)
    text = render_text(plan)
    pointless, _, rest = text.partition("would pick by itself")
    assert "A run would pin nothing" in pointless and wanted in pointless and allowed in pointless
    assert "No limit speaks against these, but attnpin cannot drive them" in rest
    assert plan.arms == () and plan.estimate.seconds is None and "Cost of a run" not in text
