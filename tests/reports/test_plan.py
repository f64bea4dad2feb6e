from __future__ import annotations

import json

from backends.wire import from_plain
from reports.plan import render_json, render_text
from store.plan import Plan
from tests.asking import entries, gpu, undriven
from tests.tuner.scenarios import B200, scenario
from tuner.plan import plan_of

ALL = tuple(entries().values())
HOPPER = render_text(plan_of(scenario(version="0.5.16"), ALL))


def lines_of(text: str, title: str) -> list[str]:
    section = next(part for part in text.split("\n\n") if part.startswith(title))
    return [line.strip() for line in section.splitlines()]


def test_the_default_stands_first_with_its_path() -> None:
    title, default = HOPPER.split("\n\n")[:2]
    assert title == "made_up on sm 90, chat traffic"
    assert default.splitlines()[0] == "SGLang 0.5.16 would pick by itself: fa3"
    assert "Hopper with CUDA 12.3 or newer; topk unset (or 1 at page size 1) -> fa3" in default


def test_the_rules_that_led_to_the_default_are_named_with_their_reasons() -> None:
    first, reason, second = lines_of(HOPPER, "By these rules of SGLang 0.5.16")[1:]
    assert (
        first.startswith("default.mha.hopper: base fa3, if no base backend chosen, MHA model, Hopper with CUDA 12.3 or newer")
        and "slower on Hopper" in first
    )
    assert reason.startswith("recorded reason: FlashInfer >= 0.6.0, < 0.6.4: decode slow on SM90 (sglang issue 17411)")
    assert second == "page.default: page size 1, if --page-size unset. Where nothing else asks, a page is one token."


def test_a_backend_the_user_chose_is_not_said_to_be_the_engines_own_pick() -> None:
    text = render_text(plan_of(scenario(version="0.5.16", decode_attention_backend="triton"), ALL))
    first = text.split("\n\n")[1].splitlines()[0]
    assert first == "SGLang 0.5.16 would run prefill fa3, decode triton: your choice (engine.decode_attention_backend=triton) is kept"
    rows = lines_of(text, "Would be measured: 7 arms")
    assert [row.split()[0] for row in rows if row.endswith("your choice")] == ["triton"]
    assert [row.split()[0] for row in rows if row.endswith("the default")] == ["fa3"]
    assert "by itself SGLang would run fa3" in text


def test_arms_show_how_they_are_driven_and_served() -> None:
    rows = lines_of(HOPPER, "Would be measured: 7 arms")
    assert any(row.startswith("fa3") and row.endswith("the default") for row in rows)
    assert any(row.startswith("flex_attention") and "engine" in row and "without CUDA graphs" in row for row in rows)
    assert [row.split()[0] for row in rows if row.endswith("may compile while serving")] == ["fa4", "flex_attention"]


def test_backends_that_one_question_excludes_stand_together_with_allowed_and_source() -> None:
    rows = lines_of(HOPPER, "Excluded, since mha attention is asked; choose a backend for this kind of attention")
    assert [row.split()[0] for row in rows[2:]] == ["cutedsl_mla", "cutlass_mla", "flashmla", "tokenspeed_mla", "trtllm_mla"]
    assert all("mla attention" in row and "sglang/srt/" in row for row in rows[2:])


def test_pairs_without_a_common_page_size_are_listed_with_both_sizes() -> None:
    text = render_text(plan_of(scenario(B200, version="0.5.16"), ALL))
    rows = lines_of(text, "Pairs that no page size serves; choose two that share one")
    assert rows[2].split()[:2] == ["fa4", "trtllm_mha"]
    assert "page size 128 for fa4 and page size 16 or 32 or 64 for trtllm_mha" in rows[2] and "_fa4_page_constraint (0.5.16)" in rows[2]
    assert "Pairs that no page size serves" not in HOPPER


def test_an_exclusion_from_one_phase_names_it() -> None:
    rows = lines_of(HOPPER, "Excluded, since sm 90 is asked")
    assert rows[2].startswith("trtllm_mha (prefill)") and "sm 100, 103 for prefill" in rows[2]


def test_what_the_user_did_not_select_stands_apart_from_limits_in_one_line() -> None:
    text = render_text(plan_of(scenario(version="0.5.16", backends=("fa3",)), ALL))
    names = lines_of(text, "Left out by measure.backends=[fa3]")[1].split(", ")
    assert {"triton", "flashinfer", "torch_native"} <= set(names) and "fa3" not in names and "flashmla" not in names
    assert "triton is asked" not in text and "Left out by" not in HOPPER


def test_what_would_keep_a_run_from_pinning_anything_stands_first() -> None:
    title, first = render_text(plan_of(scenario(B200), undriven("trtllm_mha"))).split("\n\n")[:2]
    assert title == "made_up on sm 100, chat traffic"
    assert first.splitlines()[:3] == [
        "A run would pin nothing",
        "  attnpin cannot drive trtllm_mha for mha attention on cuda (drivers: none: attnpin has no driver for it in this version); "
        "measure it with another tool, or add a driver to its entry",
        "  the default trtllm_mha cannot be measured in prefill: a run would end incomplete and pin nothing",
    ]
    assert "A run would pin nothing" not in HOPPER


def test_gaps_of_the_tool_stand_apart_from_limits() -> None:
    rows = lines_of(render_text(plan_of(scenario(version="0.5.16"), undriven("fa4", "trtllm_mha"))), "No limit speaks against these")
    assert [row.split()[0] for row in rows[2:]] == ["fa4", "trtllm_mha"]
    assert "attnpin has no driver for it in this version" in rows[2]


def test_a_forced_page_size_names_who_must_follow() -> None:
    text = render_text(plan_of(scenario(B200, page_size=8), ALL))
    assert "trtllm_mha would run with page size 64, not 8" in text
    assert "router" in text


def test_cells_show_their_weights_and_the_cost_is_called_an_estimate() -> None:
    rows = lines_of(HOPPER, "Cells")
    assert rows[3].split()[:3] == ["decode-16", "16", "16"]
    assert "20 %" in rows[3]
    assert "guard only" in next(row for row in rows if row.startswith("decode-fullest"))
    assert lines_of(HOPPER, "Cost of a run (estimate)")[1].startswith("time: ")


def test_a_plan_without_arms_still_says_why() -> None:
    text = render_text(plan_of(scenario(gpu(130)), ALL))
    assert "Would be measured: 0 arms\n  nothing" in text
    assert "sm 130 (unknown architecture)" in text
    assert "Cost of a run" not in text


def test_json_is_the_whole_plan() -> None:
    plan = plan_of(scenario(), ALL)
    assert from_plain(Plan, json.loads(render_json(plan))) == plan
