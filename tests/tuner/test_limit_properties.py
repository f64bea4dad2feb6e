"""What holds of the limits whatever is asked."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cell import Phase
from reports.plan import render_text
from store.scenario import NOT_SELECTED, Speculation
from tests.asking import entries, gpu
from tests.tuner.scenarios import B200, CPU, DSV3, GEMMA3, GPT_OSS, H100, L40S, LLAMA, MI300, MIMO, RTX5090, scenario
from tuner.engines.sglang.pick import default_pick
from tuner.limits import Sifted, sift
from tuner.plan import make_plan, plan_of
from tuner.settings import compose

ALL = tuple(entries().values())
BOARDS = (H100, L40S, B200, RTX5090, MI300, CPU, gpu(75, smem_per_block_bytes=65536), gpu(103), gpu(130), gpu(None))
MODELS = (LLAMA, GPT_OSS, DSV3, GEMMA3, MIMO)
OVERRIDES = ("model=gpt_oss_20b", "gpu=l4", "engine.version=0.5.16", "engine.kv_cache_dtype=fp8_e4m3", "engine.features=[deterministic]")


@st.composite
def scenarios(draw: st.DrawFn) -> Any:
    topk = draw(st.sampled_from((None, 1, 4)))
    changes = {
        "version": draw(st.sampled_from(("0.5.12", "0.5.16", "0.5.22", "0.5.23"))),
        "page_size": draw(st.sampled_from((None, None, 1, 64, 128))),
        "kv_cache_dtype": draw(st.sampled_from(("auto", "bf16", "fp8_e4m3", "fp8_e5m2"))),
        "features": draw(st.sampled_from(((), ("deterministic",), ("radix_cache", "deterministic")))),
        "speculation": draw(st.sampled_from((Speculation(), Speculation("EAGLE", topk), Speculation("NGRAM")))),
        "backends": draw(st.sampled_from(((), ("fa3", "triton")))),
    }
    return scenario(draw(st.sampled_from(BOARDS)), draw(st.sampled_from(MODELS)), **changes)


def sifted(case: Any, backends: tuple[Any, ...] = ALL) -> Sifted:
    rules = case.engine.version if case.engine.version != "0.5.12" else "0.5.16"
    return sift(case, backends, default_pick(case, ALL, rules), pool_tokens=10**6)


@given(scenarios())
def test_every_exclusion_says_asked_allowed_remedy_and_source(case: Any) -> None:
    found = sifted(case)
    reasons = [reason for one in (*found.exclusions, *found.trusted) for reason in one.reasons] + [pair.reason for pair in found.apart]
    assert all(one.reasons for one in found.exclusions)
    assert all(reason.asked and reason.allowed and reason.remedy and len(reason.source) > 8 for reason in reasons)


@given(scenarios())
def test_every_backend_is_an_arm_or_excluded_and_no_arm_is_barred_from_both_phases(case: Any) -> None:
    found = sifted(case)
    whole = {one.backend for one in found.exclusions if one.phase is None}
    assert {arm.backend for arm in found.arms} | whole == {entry.name for entry in ALL}
    assert not {arm.backend for arm in found.arms} & whole
    for arm in found.arms:
        barred = {one.phase for one in found.exclusions if one.backend == arm.backend}
        assert barred != {phase.value for phase in Phase}


@given(scenarios(), st.randoms(use_true_random=False))
def test_the_order_of_backends_decides_nothing(case: Any, random: Any) -> None:
    shuffled = random.sample(ALL, len(ALL))
    first, second = sifted(case), sifted(case, tuple(shuffled))
    assert set(first.exclusions) == set(second.exclusions) and set(first.arms) == set(second.arms)
    assert set(first.trusted) == set(second.trusted) and set(first.noted) == set(second.noted) and set(first.apart) == set(second.apart)


@given(scenarios())
@settings(max_examples=15)
def test_a_plan_prints_every_value_asked_and_every_doubt(case: Any) -> None:
    plan = plan_of(case, ALL)
    text = render_text(plan)
    for one in plan.exclusions:
        for reason in one.reasons:
            assert reason.rule == NOT_SELECTED or (reason.asked in text and reason.allowed in text)
    for doubted in sifted(case).trusted:
        assert all(f"{doubted.backend} is kept on trust: {doubt.asked}" in text for doubt in doubted.reasons)


@pytest.mark.parametrize("turned", [order for index, order in enumerate(permutations(OVERRIDES)) if index % 41 == 7])
def test_the_order_of_overrides_changes_nothing(turned: tuple[str, ...]) -> None:
    assert make_plan(compose(list(turned))) == make_plan(compose(list(OVERRIDES)))
