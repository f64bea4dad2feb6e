from __future__ import annotations

import json

from backends.wire import from_plain
from reports.plan import render_json, render_text
from store.plan import Plan
from tests.asking import entries, gpu
from tests.tuner.planning import B200, scenario
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
    assert "Hopper (CUDA >= 12.3) without a draft tree -> fa3" in default


def test_arms_show_how_they_are_driven_and_served() -> None:
    rows = lines_of(HOPPER, "Would be measured: 5 arms")
    assert any(row.startswith("fa3") and row.endswith("the default") for row in rows)
    assert any(row.startswith("flex_attention") and "kernel" in row and "without CUDA graphs" in row for row in rows)


def test_backends_that_one_question_excludes_stand_together_with_allowed_and_source() -> None:
    rows = lines_of(HOPPER, "Excluded, since mha attention is asked; choose a backend for this kind of attention")
    assert [row.split()[0] for row in rows[2:]] == ["cutedsl_mla", "flashmla", "tokenspeed_mla", "trtllm_mla"]
    assert all("mla attention" in row and "sglang/srt/" in row for row in rows[2:])


def test_an_exclusion_from_one_phase_names_it() -> None:
    rows = lines_of(HOPPER, "Excluded, since sm 90 is asked")
    assert rows[2].startswith("trtllm_mha (prefill)") and "sm 100, 103 for prefill" in rows[2]


def test_gaps_of_the_tool_stand_apart_from_limits() -> None:
    rows = lines_of(HOPPER, "No limit speaks against these")
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
    assert "time: unknown" in text


def test_json_is_the_whole_plan() -> None:
    plan = plan_of(scenario(), ALL)
    assert from_plain(Plan, json.loads(render_json(plan))) == plan
