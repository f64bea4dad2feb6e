"""Every public report in tests/cases/measuring.yaml that a plan, a run or its cautions have an answer to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.cell import Cell, Phase, kv_bytes
from backends.measured import CellRound, Identity, KernelNode, Round, Trial, Visit, code_id
from backends.model import Model
from reports import costs
from store.decision import Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from tests.asking import MLA
from tests.cases.reading import read_cases
from tests.tuner.building import DECODE, H200, PREFILL, decode, one_cell_each
from tests.tuner.scenarios import CHAT, DSV3, H100, MIMO, scenario
from tuner.decide import decide
from tuner.engines.lookup import rules_of
from tuner.racing.sameness import changed_kernels
from tuner.racing.sieve import entrants
from tuner.settings import compose
from tuner.workload.cells import cells_for, padded_batch

CASES = read_cases("measuring")


def test_a_cell_that_had_not_settled_says_between_which_clocks_it_was_timed() -> None:
    case = CASES["e05-2"]
    high, low = map(float, case["given"]["sm_clock_mhz"])
    run = one_cell_each({"fa3": (500.0, 100.0)})

    def falling(cell: CellRound) -> CellRound:
        visits = (replace(visit, sm_clock_mhz=low if place else high) for place, visit in enumerate(cell.visits))
        return replace(cell, settled=False, visits=tuple(visits)) if cell.cell == DECODE else cell

    rounds = tuple(replace(measured, cells=tuple(map(falling, measured.cells))) for measured in run.rounds)
    (said,) = (caution for caution in decide(replace(run, rounds=rounds)).cautions if "had not settled" in caution)
    assert said.startswith(DECODE) and all(clock in said for clock in case["expect"]["says"])


@pytest.mark.parametrize("name", ["e06-1", "e06-2"])
@pytest.mark.parametrize("backend", ["flashinfer", "fa3"], ids=["a rival", "the default"])
def test_an_arm_far_below_the_memorys_speed_on_a_large_cell_is_asked_about(name: str, backend: str) -> None:
    share, says = CASES[name]["given"]["bandwidth_share_pct"] / 100, CASES[name]["expect"]["says"]
    said = unbelieved(reading_at({"fa3": 0.8, "flashinfer": 0.8, backend: share}, decode()), backend)
    assert bool(said) is bool(says) and all(word in said[0] for word in says)


def test_small_cells_eager_arms_and_gpus_without_a_sheet_are_not_asked_about() -> None:
    small, large = decode(batch=1, context=1024), decode()
    slow = {"fa3": 0.8, "flashinfer": 0.2}
    assert not unbelieved(reading_at(slow, small)) and unbelieved(reading_at(slow, large))
    assert not unbelieved(reading_at(slow, large, modes={("flashinfer/p1", DECODE): "eager"}))
    assert not unbelieved(reading_at(slow, large, gpu=replace(H200, peak_flops=None)))


def reading_at(shares: dict[str, float], weighted: WeightedCell, **changes: Any) -> Run:
    """Arms that read a decode cell at these shares of the memory's speed."""
    least_us = kv_bytes(weighted.cell, 2) / (H200.bandwidth_bytes_per_s or 1.0) * 1e6
    run = one_cell_each({name: (500.0, least_us / share) for name, share in shares.items()}, **changes)
    return replace(run, cells=tuple(weighted if each.cell.name == DECODE else each for each in run.cells))


def unbelieved(run: Run, backend: str = "") -> list[str]:
    return [said for said in decide(run).cautions if "of the memory's speed" in said and said.startswith(backend)]


@pytest.mark.parametrize("layers", [1, 4])
def test_bytes_are_those_of_the_live_tokens_and_of_one_latent(layers: int) -> None:
    case = CASES["e07-1"]
    given = case["given"]
    layer = replace(MLA, head_dim=given["head_dim"], value_head_dim=given["value_head_dim"], layers=layers)
    context, batch = given["context"], given["batch"]
    cell = Cell("decode", Phase.DECODE, layer, (context,) * batch, (1,) * batch, (context,) * batch, batch, "bfloat16", 1)
    assert kv_bytes(cell, 2) == case["expect"]["kv_bytes"] < given["pool_tokens"] * layer.head_dim * 2
    assert kv_bytes(cell, 1) == case["expect"]["kv_bytes"] // 2


@pytest.mark.parametrize(("asked", "latent"), [(DSV3, True), (MIMO, False)], ids=["MLA", "unequal widths"])
def test_the_cells_of_a_plan_know_a_latent_from_heads_of_unequal_widths(asked: Model, latent: bool) -> None:
    assert CASES["e07-1"]["kind"] == "work is counted from what was allocated, not from what was used"
    planned = scenario(H100, asked, tensor_parallel=4)
    rules = rules_of(planned)
    server = rules.server_for(planned, planned.engine.version, 1)
    assert {one.cell.layer.latent for one in cells_for(planned, server, rules.rank_layers(planned), 1).cells} == {latent}


def test_one_name_that_ran_two_kernels_is_refused_with_both_times() -> None:
    case = CASES["e07-2"]
    first, second = (round_of(us, kernel) for us, kernel in zip(case["given"]["us"], case["given"]["kernels"]))
    said = changed_kernels([first], second) or ""
    assert all(word in said for word in case["expect"]["says"]) and changed_kernels([first], first) is None


def round_of(us: float, kernel: str) -> Round:
    known = code_id([KernelNode("decode", (132, 1, 1), (128, 1, 1), 0, (len(kernel),))])
    visits = (Visit(0, 0, "flashinfer/p1", (float(us),) * 8),)
    return Round(0, 0, (CellRound(DECODE, (), visits, (), True, code_ids=(("flashinfer/p1", known or ""),)),), ())


@pytest.mark.parametrize("phase", Phase)
def test_what_a_first_call_waits_for_is_shown_as_a_cost_and_moves_no_time(phase: Phase) -> None:
    case = CASES["e08-1"]
    run, cell = one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (400.0, 90.0)}), {Phase.PREFILL: PREFILL, Phase.DECODE: DECODE}[phase]

    def with_first_call(trial: Trial) -> Trial:
        slow = (trial.arm, trial.cell) == ("flashinfer/p1", cell)
        return replace(trial, first_call_s=float(case["given"]["first_call_s"] if slow else case["given"]["later_s"]))

    waited = replace(run, trials=tuple(map(with_first_call, run.trials)))
    pairs = Pair("fa3/p1", "fa3/p1"), Pair("flashinfer/p1", "flashinfer/p1")
    (shown,) = (cost for cost in costs.between(waited, *pairs) if cost.what == f"first {phase.value} call, in its probe")
    assert shown.differs and all(word in shown.other for word in case["expect"]["says"])
    assert [score.objective_ms for score in decide(waited).scores] == [score.objective_ms for score in decide(run).scores]


def test_the_paths_that_traffic_takes_are_cells_of_their_own() -> None:
    assert set(CASES["e08-2"]["expect"]["warmed"]) == {"prefix-cache-hit", "chunked-prefill", "above-largest-graph-batch"}
    long = replace(CHAT, prompt=replace(CHAT.prompt, median_tokens=9000, p95_tokens=30_000), concurrency=48, cached_share=0.5)
    planned = scenario(H100, traffic=long, cuda_graph_max_bs=16)
    server = replace(rules_of(planned).server_for(planned, planned.engine.version, 1), captured_batches=(1, 2, 4, 8, 16))
    cells = [weighted.cell for weighted in cells_for(planned, server, rules_of(planned).rank_layers(planned), 1).cells]
    prefixes = [prefix for cell in cells if cell.phase is Phase.PREFILL for prefix in cell.prefix_lens]
    assert any(0 < prefix < server.chunked_prefill_size for prefix in prefixes)  # found in the cache
    assert any(prefix >= server.chunked_prefill_size for prefix in prefixes)  # of a chunk before
    decodes = [cell for cell in cells if cell.phase is Phase.DECODE]
    assert all(cell.padded_batch == padded_batch(cell.batch, server.captured_batches) for cell in decodes)
    assert max(cell.batch for cell in decodes) > max(server.captured_batches)  # launched eagerly


def test_a_build_is_not_given_up_early() -> None:
    case, patience = CASES["e09"], compose([]).patience
    assert patience.compiling_s >= case["expect"]["least_limit_s"] > max(case["given"]["start_s"])


def test_a_slow_first_start_keeps_no_arm_out_of_the_race() -> None:
    run, start_s = one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (400.0, 90.0)}), float(max(CASES["e09"]["given"]["start_s"]))
    slow = tuple(replace(trial, first_call_s=start_s) if trial.arm == "flashinfer/p1" else trial for trial in run.trials)
    assert {entrant.arm.backend for entrant in entrants(run.arms, run.cells, slow, {})} == {"fa3", "flashinfer"}


def test_what_ran_is_named_in_the_question_about_it() -> None:
    run = reading_at({"fa3": 0.8, "flashinfer": 0.2}, decode())
    ran = Identity("fa2,tensor cores", "graph", ("void BatchPrefillWithPagedKVCacheKernel<int>(Params)",))
    trials = tuple(replace(one, identity=ran) if (one.arm, one.cell) == ("flashinfer/p1", DECODE) else one for one in run.trials)
    (said,) = unbelieved(replace(run, trials=trials))
    assert said.endswith("It ran fa2,tensor cores (BatchPrefillWithPagedKVCacheKernel)")
