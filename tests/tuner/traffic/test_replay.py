"""From a trace to the cells of a plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from backends.cell import Phase
from store.digest import run_digest
from store.plan import Plan
from store.recorded_traffic import RecordedTraffic
from store.scenario import Role
from tests.asking import entries
from tests.store.building import environment
from tests.tuner.scenarios import H100, scenario
from tests.tuner.traffic.building import requests
from tuner.errors import UsageError
from tuner.plan import plan_of
from tuner.traffic.requests import Requests
from tuner.traffic.trace import Limits, Trace

ALL = tuple(entries().values())
RNG = np.random.default_rng(7)
LENGTHS = [(int(prompt), int(output)) for prompt, output in zip(RNG.lognormal(7, 1, 800) + 1, RNG.lognormal(5, 0.7, 800) + 1)]
MANY = requests(*LENGTHS, arrival_s=np.cumsum(RNG.exponential(0.2, 800)), cached=[prompt // 4 for prompt, _ in LENGTHS])


def trace(found: Requests = MANY, at_once: int | None = None, **limits: object) -> Trace:
    return Trace("columns", len(found), 0, (), found, at_once, limits=Limits(**limits))  # type: ignore[arg-type]


def planned(asked: Trace, **engine: object) -> Plan:
    return plan_of(scenario(H100, **engine), ALL, trace=asked)


def record(plan: Plan) -> RecordedTraffic:
    assert plan.scenario.traffic.recorded is not None
    return plan.scenario.traffic.recorded


def test_cells_are_few_cover_nearly_all_and_share_each_phase() -> None:
    plan = planned(trace())
    cells = [weighted for weighted in plan.cells if not weighted.is_guard]
    for phase, most in ((Phase.DECODE, 12), (Phase.PREFILL, 8)):
        of_phase = [weighted for weighted in cells if weighted.cell.phase is phase]
        assert 1 <= len(of_phase) <= most and sum(weighted.token_share for weighted in of_phase) == pytest.approx(1)
    assert [each.phase for each in record(plan).coverage] == [Phase.DECODE, Phase.PREFILL]
    assert record(plan).coverage[0].share >= 0.95
    assert len({weighted.cell.name for weighted in plan.cells}) == len(plan.cells)


def test_the_steps_of_the_cells_make_the_tokens_of_the_trace() -> None:
    """Decode steps times their requests are all tokens but the first of each request; prefill steps times theirs what no cache held."""
    plan, output = planned(trace()), MANY.output.sum()
    cells = [weighted for weighted in plan.cells if not weighted.is_guard]
    made, computed = (
        sum(one.calls_per_1000_tokens * one.cell.new_tokens for one in cells if one.cell.phase is phase)
        for phase in (Phase.DECODE, Phase.PREFILL)
    )
    assert made == pytest.approx(1000 * (1 - len(MANY) / output), rel=0.15)  # a cell stands for steps that are like it, not equal
    assert computed == pytest.approx(1000 * (MANY.prompt - MANY.cached).sum() / output, rel=0.25)


def test_the_traffic_is_described_by_what_was_seen() -> None:
    traffic = planned(trace()).scenario.traffic
    assert traffic.cached_share == pytest.approx(0.25, abs=0.01) and 2 <= traffic.concurrency <= 64
    batches = [len(step.context_lens) for step in record(planned(trace())).steps if step.phase is Phase.DECODE]
    assert max(batches) <= traffic.concurrency


def test_a_stored_scenario_plans_the_same_cells_without_the_file() -> None:
    plan = planned(trace())
    assert plan_of(plan.scenario, ALL).cells == plan.cells


def test_the_digest_is_that_of_the_requests_and_of_the_steps_they_make() -> None:
    def digest(plan: Plan) -> str:
        return run_digest(plan.scenario, environment(), 1)

    longer = replace(MANY, output=MANY.output + 1)
    assert digest(planned(trace())) == digest(planned(replace(trace(), notes=("said otherwise",))))
    assert len({digest(planned(asked)) for asked in (trace(), trace(longer), trace(max_running_requests=4))}) == 3


def test_traffic_beyond_the_kv_capacity_says_at_how_many_requests_it_queues() -> None:
    found = trace(requests(*[(600, 128)] * 300), at_once=64, pool_tokens=24_094)
    plan = planned(found)
    said = next(note for note in record(plan).notes if "exceeds the KV capacity" in note)
    assert "with 33 requests at once the pool of 24094 tokens is full and others queue" in said
    assert plan.scenario.traffic.concurrency == 33 and plan.server.pool_tokens == 24_094


def test_traffic_that_comes_faster_than_it_is_answered_is_said_to_grow_a_queue() -> None:
    flood = requests(*[(2000, 500)] * 3000, arrival_s=np.arange(3000) / 1000)
    assert any("requests come faster than the server is predicted to answer them" in note for note in record(planned(trace(flood))).notes)
    calm = requests(*[(2000, 500)] * 30, arrival_s=np.arange(30) * 60.0)
    assert not record(planned(trace(calm))).notes


def test_requests_longer_than_the_server_takes_are_cut_and_counted() -> None:
    found = trace(requests((131_071, 10), (100, 10)), at_once=1)
    assert "1 of 2 requests are longer than the 131072 tokens a request may reach and are cut there" in record(planned(found)).notes


def test_prompts_that_leave_no_room_for_an_answer_are_left_out_as_a_server_refuses_them() -> None:
    alone, beside = (record(planned(trace(requests(*asked), at_once=1))) for asked in (((100, 10),), ((131_072, 10), (100, 10))))
    assert beside.steps == alone.steps and beside.tpot_ms == alone.tpot_ms
    said = "1 of 2 prompts are as long as the 131072 tokens a request may reach, or longer: a server refuses them, and they are left out"
    assert beside.notes == (said, *alone.notes)
    with pytest.raises(UsageError, match="every prompt of the traffic is as long as the 131072 tokens that a request may reach"):
        planned(trace(requests((300_000, 10)), at_once=1))


def test_limits_that_the_server_was_started_with_bound_its_batches() -> None:
    plan = planned(trace(requests(*[(3000, 50)] * 200), at_once=50, max_running_requests=4, chunked_prefill_size=1024))
    cells = [weighted.cell for weighted in plan.cells if not weighted.is_guard]
    assert max(cell.batch for cell in cells if cell.phase is Phase.DECODE) == 4
    assert max(cell.new_tokens for cell in cells if cell.phase is Phase.PREFILL) <= 1024


def test_mixed_chunks_are_cells_in_which_some_requests_have_one_new_token() -> None:
    plan = planned(trace(mixed_chunks=True))
    assert any(1 in one.cell.new_lens and max(one.cell.new_lens) > 1 for one in plan.cells if one.cell.phase is Phase.PREFILL)


def test_a_shared_prefix_is_in_the_cells() -> None:
    found = trace(requests(*[(2000, 50)] * 100, cached=[512] * 100, shared=512), at_once=8)
    assert {one.cell.shared_prefix for one in planned(found).cells if not one.is_guard} == {512}


def test_groups_of_attention_data_parallelism_each_have_their_part_of_the_requests() -> None:
    whole, part = (planned(trace(), tensor_parallel=4, attn_dp_size=size) for size in (1, 4))
    one, each = (max(w.cell.batch for w in plan.cells if w.cell.phase is Phase.DECODE and not w.is_guard) for plan in (whole, part))
    assert each < one

    def tokens(plan: Plan, groups: int) -> float:
        decode = [w for w in plan.cells if w.cell.phase is Phase.DECODE]
        return groups * sum(w.calls_per_1000_tokens * w.cell.new_tokens for w in decode)

    assert tokens(whole, 1) == pytest.approx(tokens(part, 4), rel=0.15)


def test_a_server_of_one_phase_has_the_cells_of_that_phase() -> None:
    plan = planned(trace(), role=Role.DECODE)
    assert {weighted.cell.phase for weighted in plan.cells} == {Phase.DECODE}


def test_blocks_hold_all_steps_and_tokens() -> None:
    found = record(planned(trace()))
    assert len(found.block_tokens) == 8 and sum(found.block_tokens) == pytest.approx(MANY.output.sum() - len(MANY), rel=0.01)
    for step in found.steps:
        assert 1000 * sum(step.block_steps) / MANY.output.sum() == pytest.approx(step.steps_per_1000_tokens, rel=0.02)
