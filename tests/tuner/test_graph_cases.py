"""Every public report in tests/cases/graphs.yaml that a plan, a run or its cautions have an answer to."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from backends.measured import Identity, KernelNode
from backends.model import LayerKind
from backends.outcome import Outcome
from store.decision import Ruling
from store.digest import run_digest
from store.runs.run import Run
from store.verdicts.comparison import Label
from tests.asking import FULL, entries, gpu, kept, model
from tests.cases.reading import read_cases
from tests.tuner.building import DECODE, H200, PREFILL, Recipe, arm, build, decode, one_cell_each, prefill
from tests.tuner.engines.vllm.served import RULES, on_vllm, settled
from tests.tuner.scenarios import B200, H100, scenario
from tuner.decide import decide
from tuner.deciding.contest import surroundings_of
from tuner.engines.vllm.memory import server_for
from tuner.engines.vllm.questions import rank_layers
from tuner.new_run import stage_of
from tuner.plan import plan_of
from tuner.step_model.step import layers_rest
from tuner.verdicts.rule import rule_for
from tuner.verdicts.side_by_side import verdicts
from tuner.workload.cells import cells_for

CASES = read_cases("graphs")
ALL = tuple(entries().values())


def test_what_is_served_deterministically_is_measured_so_and_under_a_key_of_its_own() -> None:
    feature = CASES["c03"]["given"]["feature"]
    plain, asked = (plan_of(scenario(H100, features=features), ALL) for features in ((), (feature,)))
    assert (stage_of(plain).deterministic, stage_of(asked).deterministic) == (False, True)
    environment = one_cell_each({"fa3": (500.0, 100.0)}).environment
    assert run_digest(plain.scenario, environment, 1) != run_digest(asked.scenario, environment, 1)
    assert {made.backend for made in asked.arms} < {made.backend for made in plain.arms}


def test_rounds_of_that_mode_say_that_fewer_blocks_are_faster() -> None:
    given, rng = CASES["c03"]["given"], np.random.default_rng(1)
    before, after = given["us"]
    d = rng.normal(math.log(after / before), given["spread_pct"] / 100, (given["rounds"], 1))
    (found,) = verdicts(d, ["decode-2"], rule_for("gate"))
    assert found.label is Label(CASES["c03"]["expect"]["verdict"])


@pytest.mark.parametrize("context_length", [CASES["c04"]["given"]["context_length"], 40_000])
def test_arms_are_opened_with_the_servers_longest_request_and_not_the_cells(context_length: int) -> None:
    given = CASES["c04"]["given"]
    plan = plan_of(scenario(gpu(given["sm"]), context_length=context_length), ALL)
    assert stage_of(plan).context_length == context_length >= max(max(weighted.cell.context_lens) for weighted in plan.cells)


def test_answers_that_depend_on_that_length_within_a_tolerance_cost_no_backend_its_place() -> None:
    assert kept(CASES["c04"]["given"]["backend"], gpu=B200, page_size=64)


def test_each_split_count_is_a_row_of_its_own_though_the_kernels_have_one_name() -> None:
    given, expect = CASES["c06-1"]["given"], CASES["c06-1"]["expect"]
    arms = (arm("fa3"), *(replace(arm("fa3"), knobs=((given["knob"], str(value)),)) for value in given["values"]))
    times = {(each.name, PREFILL): 500.0 for each in arms} | {("fa3/p1", DECODE): 91.0}
    times |= {(each.name, DECODE): float(us) for each, us in zip(arms[1:], given["us"])}
    kernels = {(each.name, cell): ("flash_fwd_splitkv",) for each in arms for cell in (PREFILL, DECODE)}
    found = decide(build(Recipe(arms, times, kernels=kernels)))
    rows = [result.arm for result in found.cells if result.cell == DECODE]
    assert set(rows) == {"fa3/p1", *expect["rows"]}
    assert not [score.barred for score in found.scores if score.barred and "one arm under two names" in score.barred]


def few_blocks(blocks: int, sm_count: int, share: float, backend: str = "triton") -> list[str]:
    """Cautions of a run whose decode, with ``backend``, is so much of its step at the least."""
    given = CASES["c06-2"]["given"]
    cell, us = decode(batch=1, context=given["context"]), {("fa3/p1", DECODE): 200.0, ("triton/p1", DECODE): 200.0}
    recipe = Recipe((arm("fa3"), arm("triton")), us, (cell,), gpu=replace(H200, sm_count=sm_count))
    rest_ms = layers_rest(cell, surroundings_of(build(recipe))).high or 0.0
    slow_us = share / (1 - share) * rest_ms * 1000 / cell.layers
    run = build(replace(recipe, times_us={**us, ("triton/p1", DECODE): slow_us}))
    ran = Identity(backend, "graph", ("kernel",), (KernelNode("kernel", (blocks, 1, 1), (128, 1, 1), 0, ()),))
    trials = tuple(replace(trial, identity=ran) if trial.arm == f"{backend}/p1" else trial for trial in run.trials)
    return [said for said in decide(replace(run, trials=trials)).cautions if "blocks on" in said]


def test_a_kernel_of_a_handful_of_blocks_is_not_ranked_without_a_word() -> None:
    given, says = CASES["c06-2"]["given"], CASES["c06-2"]["expect"]["says"]
    (said,) = few_blocks(given["blocks"], given["sm_count"], given["attention_share"])
    assert all(word in said for word in says) and f"{given['sm_count']} SMs" in said


@pytest.mark.parametrize(("blocks", "said"), [(1, True), (53, True), (54, False), (432, False)])
def test_blocks_that_fill_half_of_the_gpu_need_no_word(blocks: int, said: bool) -> None:
    assert bool(few_blocks(blocks, 108, 0.8)) is said


def test_few_blocks_of_a_call_that_reads_fast_enough_need_none_either() -> None:
    assert not few_blocks(4, 108, 0.8, backend="fa3")


def chunked(layers: int) -> LayerKind:
    return replace(FULL, name="chunk", layers=layers, sliding_window=CASES["c07"]["given"]["chunk"])


@pytest.mark.parametrize("layers", [1, 36])
def test_one_kind_of_layers_that_is_never_captured_leaves_the_model_without_graphs(layers: int) -> None:
    expect, scout = CASES["c07"]["expect"], model(chunked(layers), replace(FULL, layers=12))
    asked = on_vllm(H100, scout)
    server = server_for(asked, RULES, 16)
    assert list(server.captured_batches) == expect["captured"]
    assert any(expect["says"] in note for note in settled(H100, scout).caveats)
    assert all(one.cell.padded_batch == one.cell.batch for one in cells_for(asked, server, rank_layers(asked), 16).cells)


def test_windows_alone_cost_no_graph() -> None:
    windowed = model(replace(FULL, name="window", sliding_window=CASES["c07"]["given"]["chunk"]), FULL)
    assert server_for(on_vllm(H100, windowed), RULES, 16).captured_batches
    assert not any("CUDA graph" in note for note in settled(H100, windowed).caveats)


def fastest_but(failure: dict[tuple[str, str], tuple[Outcome, str]]) -> Run:
    fullest = decode(CASES["c08"]["given"]["fails_on"], batch=256, tokens=0.0, calls=0.0)
    names = (PREFILL, DECODE, fullest.cell.name)
    times: dict[tuple[str, str], float] = {("fa3/p1", name): 500.0 for name in names} | {("triton/p1", name): 250.0 for name in names}
    return build(Recipe((arm("fa3"), arm("triton")), times, (decode(), prefill(), fullest), failures=failure))


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.OUT_OF_MEMORY, Outcome.INCORRECT])
def test_no_arm_is_picked_that_fails_at_the_full_batch(outcome: Outcome) -> None:
    cell = CASES["c08"]["given"]["fails_on"]
    picked = [decide(fastest_but(failure)) for failure in ({}, {("triton/p1", cell): (outcome, "an index past its end")})]
    assert [found.ruling is Ruling.SWITCH for found in picked] == [True, CASES["c08"]["expect"]["picked"]]


def test_every_plan_tries_the_largest_batch_that_is_captured() -> None:
    plan: Any = plan_of(scenario(H100), ALL)
    assert max(weighted.cell.batch for weighted in plan.cells) == max(plan.server.captured_batches)
