from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from backends.wire import from_plain, to_plain
from store.plan import Plan
from store.scenario import Speculation
from store.traffic import Lengths
from tests.asking import entries, gpu, undriven
from tests.tuner.scenarios import B200, CHAT, CPU, DSV3, H100, LLAMA, scenario, server
from tuner.plan import plan_of
from tuner.planning.notes import share_above, traffic_notes

ROOT = Path(__file__).parents[2]
ALL = tuple(entries().values())
GUARDS = ("decode-fullest", "decode-longest")


def said(plan: Plan, *words: str) -> bool:
    return any(all(word in note for word in words) for note in (*plan.fatal, *plan.beforehand, *plan.notes))


def test_a_plan_is_whole() -> None:
    plan = plan_of(scenario(), ALL)
    assert (plan.default.decode, plan.default.page_size) == ("fa3", 1)
    assert len(plan.arms) + len(plan.exclusions) >= 23
    assert [one.cell.name for one in plan.cells] == ["decode-16", "decode-32", "decode-64", "prefill-fresh", "prefill-prefix", *GUARDS]
    assert set(plan.eager) == {"torch_native", "flex_attention"}
    assert plan.estimate.seconds is not None and plan.estimate.memory_bytes is not None


def test_a_plan_is_the_same_every_time() -> None:
    assert plan_of(scenario(), ALL) == plan_of(scenario(), ALL)


def test_a_plan_travels() -> None:
    plan = plan_of(scenario(), ALL)
    assert from_plain(Plan, to_plain(plan)) == plan


def test_a_plan_without_a_worker_says_what_it_takes_for_granted() -> None:
    assert said(plan_of(scenario(), ALL), "no worker was asked", "assumed")
    assert said(plan_of(scenario(CPU, replace(LLAMA, dtype="float32")), ALL), "kernel adapters are assumed")
    assert not said(plan_of(scenario(), ALL, {"sglang": "sglang"}), "no worker was asked")


def test_the_compiler_that_flex_needs_on_a_cpu_is_announced() -> None:
    assert said(plan_of(scenario(CPU, replace(LLAMA, dtype="float32")), ALL), "flex_attention needs c++")
    assert not said(plan_of(scenario(), ALL), "c++")


def test_a_default_that_cannot_be_measured_is_announced() -> None:
    assert said(plan_of(scenario(B200), undriven("trtllm_mha")), "the default trtllm_mha cannot be measured in decode")
    assert not said(plan_of(scenario(), ALL), "cannot be measured")


def test_an_unknown_version_gets_the_nearest_rules_and_says_so() -> None:
    plan = plan_of(scenario(version="0.5.17"), ALL)
    assert plan.default.rules_version == "0.5.16"
    assert said(plan, "0.5.17", "0.5.16")


def test_a_models_own_rule_decides_and_an_unknown_pool_is_announced() -> None:
    plan = plan_of(scenario(B200, DSV3, tensor_parallel=8), ALL)
    assert (plan.default.decode, plan.default.page_size) == ("trtllm_mla", 64)
    assert [step.rule for step in plan.path] == ["mla.trtllm", "compat.page-trtllm-mla"]
    assert said(plan, "KV capacity is unknown", "leave nothing")
    assert said(plan, "absorbed")


def test_what_a_run_answers_itself_stands_apart_from_what_holds_of_its_result() -> None:
    plan = plan_of(scenario(B200, DSV3, tensor_parallel=8), ALL)
    assert any("no worker was asked" in note for note in plan.beforehand)
    assert not any("worker" in note for note in plan.notes)
    assert any("absorbed" in note for note in plan.notes)


def test_what_sglang_would_refuse_is_fatal_and_the_plan_goes_on_as_if_it_were_not() -> None:
    plan = plan_of(scenario(H100, LLAMA, page_size=48), ALL)
    assert plan.fatal == (
        "SGLang 0.5.22 would not start with these settings: --chunked-prefill-size 8192 is no multiple of page size 48; change one "
        "(launch.chunk-pages)",
    )
    assert plan.default.decode == "fa3" and plan.path[-1].effect == "refused"


def test_cut_prompts_are_announced() -> None:
    long = replace(CHAT, prompt=Lengths(60_000, 120_000))
    (note,) = traffic_notes(scenario(traffic=long), server(context_length=40960))
    assert note.startswith("82% of the prompts are longer than the 40960 tokens")
    assert not list(traffic_notes(scenario(), server()))


@pytest.mark.parametrize(("limit", "share"), [(1000, 0.5), (6000, 0.05), (10**9, 0.0)])
def test_the_share_of_prompts_above_a_length(limit: int, share: float) -> None:
    assert share_above(Lengths(1000, 6000), limit) == pytest.approx(share, abs=1e-3)


def test_equal_lengths_are_above_or_not() -> None:
    assert (share_above(Lengths(700, 700), 699), share_above(Lengths(700, 700), 700)) == (1.0, 0.0)


def test_drafts_bound_the_batches() -> None:
    plan = plan_of(scenario(speculation=Speculation("EAGLE", topk=1)), ALL)
    assert said(plan, "decode-64 was dropped", "at most 48")
    assert max(weighted.cell.batch for weighted in plan.cells) == 48
    assert max(weighted.cell.batch for weighted in plan.cells if not weighted.is_guard) == 32


def test_an_unknown_architecture_leaves_a_plan_with_reasons() -> None:
    plan = plan_of(scenario(gpu(130)), ALL)
    assert not plan.arms
    assert any("unknown architecture" in reason.asked for one in plan.exclusions for reason in one.reasons)
    assert said(plan, "cannot be measured")


def test_planning_needs_no_torch() -> None:
    script = (
        "import sys; sys.modules.update({'torch': None, 'triton': None, 'flashinfer': None, 'sglang': None})\n"
        "from tests.asking import entries\nfrom tests.tuner.scenarios import scenario\nfrom tuner.plan import plan_of\n"
        "from reports.plan import render_text\nprint(len(render_text(plan_of(scenario(), tuple(entries().values())))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1000


def test_hopper_is_planned_with_the_rules_of_the_version_found_there() -> None:
    old, new = (plan_of(scenario(H100, version=version), ALL) for version in ("0.5.16", "0.5.22"))
    excluded = [{one.backend for one in plan.exclusions if one.phase == "prefill"} for plan in (old, new)]
    assert excluded == [{"trtllm_mha"}, set()]
