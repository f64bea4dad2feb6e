"""What a search has to choose from: knobs that do something here, and their combinations."""

from __future__ import annotations

import pytest

from backends.cell import Phase
from backends.knob import Knob
from store.search import Setting, Space
from tuner.plan import make_plan
from tuner.search.space import choices
from tuner.settings import compose

H200 = ("gpu=h200", "model=qwen3_8b", "traffic=single_user", "search=exhaustive")
SPLITS, STATIC = "triton_attention_num_kv_splits", "SGLANG_TRITON_DECODE_ATTN_STATIC_KV_SPLITS"


def space(*overrides: str) -> Space:
    found = make_plan(compose([*H200, *overrides])).space
    assert found is not None
    return found


def named(found: Space, backend: str) -> dict[str, Setting]:
    return {setting.arm.name: setting for setting in found.settings if setting.arm.backend == backend}


def test_every_combination_is_a_setting_once_and_leaving_all_alone_is_the_first() -> None:
    found = list(choices([Knob("a", search=("1", "2")), Knob("b", search=("x",))]))
    assert found[0] == () and len(found) == len(set(found)) == 3 * 2


def test_a_knob_that_does_nothing_beside_another_one_is_left_alone_beside_it() -> None:
    found = list(choices([Knob("tile", search=("1",)), Knob("splits", search=("4", "8"), without=("tile",))]))
    assert sorted(map(dict, found), key=str) == sorted([{}, {"tile": "1"}, {"splits": "4"}, {"splits": "8"}], key=str)


def test_each_setting_is_an_arm_of_its_own_with_the_phases_that_it_changes() -> None:
    found = space("backend=[fa3,triton]")
    assert len({setting.arm.name for setting in found.settings}) == len(found.settings)
    both = named(found, "triton")[f"triton/p1,{STATIC}=true,{SPLITS}=16"]
    assert dict(both.chosen) == {STATIC: "true", SPLITS: "16"} and both.phases == (Phase.DECODE,)
    paged = named(found, "fa3")["fa3/p64"]
    assert (paged.arm.page_size, paged.arm.knobs, set(paged.phases)) == (64, (), set(Phase))


def test_a_knob_that_does_nothing_for_this_server_is_not_turned() -> None:
    knobs = {name for setting in space("backend=[triton]", "engine.features=[deterministic]").settings for name, _ in setting.chosen}
    assert knobs == {"SGLANG_TRITON_DECODE_SPLIT_TILE_SIZE"}
    one_phase = {name for setting in space("backend=[fa3,triton]", "engine.role=prefill").settings for name, _ in setting.chosen}
    assert one_phase == {"page_size"}


def test_a_page_size_that_divides_no_chunk_or_that_the_backend_refuses_is_no_setting() -> None:
    refused = space("backend=[fa3]", "engine.speculative.algorithm=NGRAM", "engine.speculative.topk=4")
    assert {setting.arm.page_size for setting in refused.settings} == {1}


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (("engine.page_size=32",), "page_size: engine.page_size=32 is your choice"),
        (("engine.kv_cache_dtype=bfloat16",), "kv_cache_dtype: engine.kv_cache_dtype=bfloat16 is your choice"),
        ((), "kv_cache_dtype: a narrower KV cache changes answers; engine.allow_fp8_kv=true allows it"),
        (
            (),
            "speculative_attention_mode: it says which side's backend verifies, so that other cells belong to each side: set "
            "engine.speculative.attention_mode and compare the two pins",
        ),
    ],
)
def test_what_is_not_searched_is_said_with_its_reason(overrides: tuple[str, ...], sentence: str) -> None:
    assert sentence in space("backend=[fa3]", *overrides).unsearched


def test_the_knobs_that_are_named_are_the_only_ones_turned() -> None:
    found = space("backend=[fa3,triton]", f"search.knobs=[{SPLITS.replace('_', '-')}]")
    assert {name for setting in found.settings for name, _ in setting.chosen} == {SPLITS}
    assert not found.unsearched


def test_without_a_wish_there_is_no_space() -> None:
    assert make_plan(compose([*H200, "search=none"])).space is None


def test_an_arm_that_was_asked_for_by_name_is_none_to_search_from() -> None:
    settings = compose([*H200, "backend=[triton]", f"measure.variants=[{{backend: triton, {SPLITS}: '16'}}]"])
    plan = make_plan(settings)
    assert plan.space is not None and f"triton/p1,{SPLITS}=16" in {arm.name for arm in plan.arms}
    assert {setting.base for setting in plan.space.settings} == {arm.name for arm in plan.arms if not arm.knobs}
