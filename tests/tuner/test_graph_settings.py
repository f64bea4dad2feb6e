"""What a user says of CUDA graphs, stages and caches changes what is measured, or is refused."""

from __future__ import annotations

from typing import Any

import pytest

from backends.cell import Phase
from store.plan import Plan
from store.scenario import NO_DRIVER
from tests.asking import entries
from tests.tuner.composed import refusal
from tests.tuner.scenarios import H100, scenario
from tuner.engines.sglang.command_line import command_line
from tuner.engines.sglang.request import request_for
from tuner.new_run import stage_of
from tuner.plan import plan_of

ALL = tuple(entries().values())


def planned(**changes: Any) -> Plan:
    return plan_of(scenario(H100, **changes), ALL)


def padded(plan: Plan) -> set[tuple[int, int]]:
    """(batch, the batch that is launched) of every decode cell that traffic visits."""
    return {(one.cell.batch, one.cell.padded_batch) for one in plan.cells if one.cell.phase is Phase.DECODE and not one.is_guard}


def test_without_graphs_no_batch_is_padded_and_the_worker_captures_none() -> None:
    plan = planned(disable_cuda_graph=True)
    assert all(batch == launched for batch, launched in padded(plan))
    assert stage_of(plan).graph_max_batch == 0


def test_cells_are_snapped_to_the_sizes_that_are_captured() -> None:
    plan = planned(cuda_graph_bs=(48, 96))
    assert padded(plan) and all(launched == next((size for size in (48, 96) if size >= batch), batch) for batch, launched in padded(plan))
    assert stage_of(plan).graph_max_batch == 96


def test_batches_above_a_lower_bound_are_served_eagerly() -> None:
    plan = planned(cuda_graph_max_bs=16)
    assert stage_of(plan).graph_max_batch == 16
    assert all(launched == batch for batch, launched in padded(plan) if batch > 16)


def test_a_pipeline_is_planned_with_a_word_and_not_measured() -> None:
    plan = planned(tensor_parallel=4, pipeline_parallel=2)
    assert not plan.arms
    [reason] = next(one.reasons for one in plan.exclusions if one.backend == "fa3")
    assert (reason.rule, reason.asked) == (NO_DRIVER, "fa3 with engine.pipeline_parallel=2")
    assert "cells and memory are those of a server with one stage, not of engine.pipeline_parallel=2" in plan.notes


def test_a_draft_s_backend_and_a_host_cache_reach_the_engine_s_rules() -> None:
    plan = planned(features=("deterministic",), hierarchical_cache=True, attention_backend="flashinfer")
    assert any("cache.host-radix" in sentence for sentence in plan.fatal)


def test_the_engine_is_asked_with_the_same_sizes() -> None:
    case = scenario(cuda_graph_bs=(8, 32), cuda_graph_max_bs=64, swa_full_tokens_ratio=0.5, disable_hybrid_swa_memory=True)
    asked = command_line(case, request_for(case, "0.5.22"))
    assert {("--cuda-graph-bs-decode", "8", "32"), ("--cuda-graph-max-bs-decode", "64")} <= set(asked)
    assert {("--swa-full-tokens-ratio", "0.5"), ("--disable-hybrid-swa-memory",)} <= set(asked)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["engine.cuda_graph_bs=[8,0]"], "engine.cuda_graph_bs holds 0, which is no batch"),
        ([f"engine.cuda_graph_max_bs={10**30}"], f"engine.cuda_graph_max_bs={10**30} is not possible; it must be from 1 to 100000"),
        (["engine.swa_full_tokens_ratio=1.5"], "engine.swa_full_tokens_ratio=1.5 is not possible; it must be above 0 and at most 1"),
        (["engine=vllm", "engine.hierarchical_cache=true"], "engine.hierarchical_cache=True is a setting of SGLang's"),
        (["engine=vllm", "engine.mixed_chunk=true"], "engine.mixed_chunk=True is a setting of SGLang's"),
        (["engine.speculative.accepted_length=2"], "engine.speculative.accepted_length=2.0 belongs to a draft"),
        (
            ["engine.speculative.algorithm=EAGLE3", "engine.speculative.draft_tokens=4", "engine.speculative.accepted_length=5"],
            "engine.speculative.accepted_length=5.0 exceeds engine.speculative.draft_tokens=4",
        ),
    ],
)
def test_a_setting_that_cannot_be_is_refused(overrides: list[str], said: str) -> None:
    assert said in refusal(*overrides)
