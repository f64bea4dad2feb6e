from __future__ import annotations

from tests.asking import entries
from tests.tuner.composed import composed
from tuner.plan import make_plan

DRAFT = (
    "engine.speculative.algorithm=EAGLE",
    "engine.speculative.topk=1",
    "engine.speculative.steps=3",
    "engine.speculative.draft_tokens=4",
)
H200 = ("model=llama3_1_8b", "gpu=h200", "engine.version=0.5.16")
# Where trtllm_mha takes no such KV cache in prefill.
DECODES_ALONE = ("model=llama3_1_8b", "gpu=rtx_5090", "engine.kv_cache_dtype=fp8_e4m3")


def arms(*overrides: str) -> set[str]:
    return {arm.backend for arm in make_plan(composed(*DECODES_ALONE, *overrides)).arms}


def test_a_backend_that_only_decodes_has_nothing_to_do_where_the_prefill_side_verifies() -> None:
    plan = make_plan(composed(*DECODES_ALONE, *DRAFT))
    assert "trtllm_mha" not in {arm.backend for arm in plan.arms}
    (against,) = [one for one in plan.exclusions if one.backend == "trtllm_mha"]
    assert against.phase is None and "verify steps" in against.reasons[0].asked and "attention_mode" in against.reasons[0].remedy


def test_it_is_an_arm_where_its_side_verifies_and_where_nothing_is_drafted() -> None:
    assert "trtllm_mha" in arms(*DRAFT, "engine.speculative.attention_mode=decode") and "trtllm_mha" in arms()


def test_every_backend_is_an_arm_or_excluded_with_its_reason() -> None:
    for overrides in ((), DRAFT, (*DRAFT, "engine.speculative.attention_mode=decode")):
        plan = make_plan(composed(*DECODES_ALONE, *overrides))
        said = {arm.backend for arm in plan.arms} | {one.backend for one in plan.exclusions if one.reasons}
        assert said == set(entries())


def test_adapters_of_kernels_run_no_verify_step() -> None:
    packages = {"flashinfer": "0.6.14", "torch": "2.11", "triton": "3.6"}
    plan = make_plan(composed(*H200, *DRAFT), packages=packages)
    (against,) = [one for one in plan.exclusions if one.backend == "flashinfer"]
    assert not plan.arms and any("sglang" in reason.asked for reason in against.reasons)
