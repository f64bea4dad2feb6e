from __future__ import annotations

from dataclasses import replace
from typing import Any

from backends.arm import Provider
from backends.model import LayerKind
from store.plan import Plan
from store.scenario import Speculation, Variant
from tests.asking import REMOVED, entries, gpu, model, undriven
from tests.tuner.composed import composed
from tests.tuner.scenarios import B200, DSV3, H100, LLAMA, RTX5090, scenario
from tuner.engines.sglang.pick import default_pick
from tuner.limits import Sifted, sift
from tuner.plan import make_plan, plan_of

ALL = tuple(entries().values())
WIDE = model(LayerKind("full", 32, 32, 8, 512, 512))


def sifted(*arguments: Any, rules: str = "0.5.22", packages: dict[str, str] | None = None, **changes: Any) -> Sifted:
    case = scenario(*arguments, **changes)
    return sift(case, ALL, default_pick(case, ALL, rules, packages), packages)


def about(notes: tuple[str, ...], backend: str) -> list[str]:
    return [note for note in notes if note.startswith(f"{backend} ")]


def planned(*arguments: Any, packages: dict[str, str] | None = None, **changes: Any) -> Plan:
    return plan_of(scenario(*arguments, **changes), ALL, packages)


def test_what_nobody_knows_is_said_before_a_run_and_settled_by_the_worker() -> None:
    plan = planned(RTX5090, WIDE)
    [note] = about(plan.beforehand, "flashinfer")
    assert note.startswith("flashinfer is kept on trust: flashinfer unknown; it takes flashinfer 0.6.14 or more for head dim 512")
    assert note.endswith("ask a worker (engine.command), or set what is unknown (FlashInfer pull request 3576 (in 0.6.14, not in 0.6.12))")
    everything = {"sglang": "0.5.22", "sgl_kernel": "0.4.9", "triton": "3.7", "torch": "2.14"}
    assert not about(planned(RTX5090, WIDE, packages=everything | {"flashinfer": "0.7.1"}).beforehand, "flashinfer")
    old = sifted(RTX5090, WIDE, packages=everything | {"flashinfer": "0.6.6"})
    assert [reason.asked for one in old.exclusions if one.backend == "flashinfer" for reason in one.reasons] == ["flashinfer 0.6.6"]


def test_what_a_worker_cannot_tell_holds_of_the_result_too() -> None:
    plan = planned(gpu(90, cuda=None), packages={"sglang": "0.5.22", "sgl_kernel": "0.4.9"})
    assert any("fa3 is kept on trust: CUDA unknown" in note for note in plan.notes)


def test_a_known_server_leaves_nothing_on_trust() -> None:
    assert not sifted().trusted
    assert not any("on trust" in note for note in planned().beforehand)


def test_what_an_arm_does_is_a_note_of_the_run_and_what_another_does_is_one_of_the_plan() -> None:
    plan = plan_of(scenario(), undriven("trtllm_mha"))
    assert about(plan.notes, "flex_attention") and not about(plan.notes, "trtllm_mha")
    assert any("copies the layer's whole KV pool at every prefill" in note for note in about(plan.beforehand, "trtllm_mha"))


def test_what_the_user_left_out_is_not_noted() -> None:
    assert not about(planned(backends=("fa3",)).notes, "flex_attention")


def test_a_cast_of_the_whole_pool_is_no_exclusion() -> None:
    found = sifted(H100, DSV3, kv_cache_dtype="fp8_e4m3")
    assert ("fa3", True) in [(backend, "whole FP8 pool" in note.says) for backend, note in found.noted]
    assert not sifted(H100, DSV3).noted or not any("whole FP8 pool" in note.says for _, note in sifted(H100, DSV3).noted)


def test_a_default_that_a_limit_refuses_is_told_to_fail_with_asked_and_allowed() -> None:
    plan = planned(RTX5090, DSV3, prefill_attention_backend="trtllm_mla")
    assert any("the default trtllm_mla would fail in prefill: sm 120; it takes sm 100, 103" in note for note in plan.fatal)
    assert not any("would fail" in note for note in planned(H100, DSV3).fatal)


def test_pairs_that_share_no_page_size_are_told_from_both_sides() -> None:
    assert [(pair.prefill, pair.decode) for pair in sifted(B200, rules="0.5.16", version="0.5.16").apart] == [
        ("fa4", "trtllm_mha"), ("trtllm_mha", "fa4"),
    ]  # fmt: skip
    assert not sifted(B200).apart and not sifted(H100, LLAMA).apart
    assert planned(B200, version="0.5.16").apart[0].reason.rule == "page_size"


def test_a_server_of_one_phase_has_no_pairs() -> None:
    from store.scenario import Role

    assert not sifted(B200, rules="0.5.16", version="0.5.16", role=Role.DECODE).apart


def test_a_removed_name_is_excluded_with_what_became_of_it() -> None:
    found = {one.backend: one.reasons[0] for one in sifted().exclusions if one.backend in REMOVED}
    assert {"32114" in reason.source for reason in found.values()} == {True} and len(found) == 2


def test_an_arm_of_one_side_that_no_arm_of_the_other_shares_a_page_size_with_is_said_to_be_unpinnable() -> None:
    asked = ("model=qwen3_8b", "gpu=h200", "engine.version=0.5.16")
    said = [note for note in make_plan(composed(*asked)).notes if "finds no partner" in note]
    assert [note.split()[0] for note in said] == ["trtllm_mha/p64"] and "engine.page_size=64" in said[0]
    for changed in ("engine.page_size=64", "engine.role=decode", "engine.version=0.5.22", "search=exhaustive"):
        assert not any("finds no partner" in note for note in make_plan(composed(*asked, changed)).notes)


KINDS = (LayerKind("full", 16, 32, 8, 128, 128), LayerKind("window", 16, 32, 8, 128, 128, sliding_window=512))
WINDOWS = model(*KINDS, architecture="Gemma3ForCausalLM")
CHAIN = Speculation("EAGLE", 1, 1, 2, attention_mode="decode")


def test_a_deviation_is_the_arms_and_is_said_of_the_plan_where_a_cell_shows_it() -> None:
    plan = planned(H100, WINDOWS)
    assert {arm.backend for arm in plan.arms if arm.deviations} == {"triton", "flashinfer"}
    [said] = [note for note in about(plan.beforehand, "triton") if "window" in note]
    assert "(511 keys where the window has 512; sglang/srt/layers/attention/triton_backend.py, " in said
    assert said.endswith("it takes the place of an arm that computes what the model asks only with engine.allow_deviations=true")
    assert not any("window" in note for note in about(plan.notes, "triton")), "what a run saw of it is said there"


def test_a_deviation_that_concerns_no_layer_or_no_step_of_a_plan_is_not_said() -> None:
    assert not any(arm.deviations for arm in planned().arms)
    drafting = planned(H100, WINDOWS, speculation=CHAIN)
    assert any(arm.deviations for arm in drafting.arms) and not any("window" in note for note in about(drafting.beforehand, "triton"))


def test_a_kernel_adapter_issues_calls_of_its_own_and_deviates_in_none() -> None:
    case = scenario(H100, WINDOWS)
    case = replace(case, measure=replace(case.measure, variants=(Variant("flashinfer", (("provider", "kernel"),)),)))
    arms = [arm for arm in sift(case, ALL, default_pick(case, ALL, "0.5.22", None)).arms if arm.backend == "flashinfer"]
    assert {arm.provider: bool(arm.deviations) for arm in arms} == {Provider.ENGINE: True, Provider.KERNEL: False}
