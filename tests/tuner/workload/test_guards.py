from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.arm import Arm, Provider
from backends.cell import Cell
from backends.kv.layout import pages_needed
from backends.kv.rotation import slots_wanted
from store.plan import Server
from store.scenario import Scenario
from store.traffic import Lengths
from tests.tuner.scenarios import CHAT, CPU, GEMMA3, H100, scenario, server
from tuner.engines.sglang.questions import rank_layers
from tuner.workload.cells import Workload, cells_for
from tuner.workload.guards import affordable_tokens, guard_cells

CASE = scenario()


def arms(*page_sizes: int) -> tuple[Arm, ...]:
    return tuple(Arm("fa3", Provider.ENGINE, "backends.sglang.driver:Driver", size, "bfloat16") for size in page_sizes)


def guards(sizes: Server, *page_sizes: int, case: Scenario = CASE) -> Workload:
    return guard_cells(case, sizes, cells_for(case, sizes, rank_layers(case), 1).cells, arms(*page_sizes or (1,)))


def cell(name: str, made: Workload) -> Cell:
    return next(weighted.cell for weighted in made.cells if weighted.cell.name == name)


def test_the_fullest_batch_shares_the_pool_and_the_longest_request_reaches_the_servers_context() -> None:
    made = guards(server(pool_tokens=400_000, context_length=40_960), 64)
    fullest, longest = cell("decode-fullest", made), cell("decode-longest", made)
    assert set(fullest.context_lens) == {(400_000 // 64 // 64 - 1) * 64} and fullest.batch == fullest.padded_batch == 64
    assert longest.context_lens == (40_960 - 64,) and longest.prompt_lens == ((40_960 - 64) * 3 // 4,)


@settings(max_examples=60, deadline=None)
@given(st.integers(40, 10**6), st.lists(st.sampled_from([1, 16, 32, 64, 128]), min_size=1, unique=True), st.integers(100, 10**6))
def test_guards_weigh_nothing_and_fit_the_pool_at_every_page_size(pool: int, page_sizes: list[int], context_length: int) -> None:
    for weighted in guards(server(pool_tokens=pool, context_length=context_length), *page_sizes).cells:
        assert weighted.is_guard and weighted.token_share == 0
        assert max(weighted.cell.context_lens) < context_length
        assert all(pages_needed(weighted.cell, size) <= pool // size for size in page_sizes)


def test_the_server_runs_no_more_requests_than_it_admits() -> None:
    assert cell("decode-fullest", guards(server(max_running_requests=48, pool_tokens=100_000))).batch == 32


def test_a_guard_that_a_traffic_cell_covers_is_left_out() -> None:
    sizes = server(context_length=4096, captured_batches=(1, 2, 4))  # the traffic's batches of 64 reach every context
    assert guards(sizes).cells == ()


def test_a_single_captured_batch_has_one_guard() -> None:
    made = guards(server(captured_batches=(1,)), case=scenario(traffic=replace(CHAT, concurrency=1)))
    assert [weighted.cell.name for weighted in made.cells] == ["decode-longest"]


@pytest.mark.parametrize("sizes", [server(captured_batches=()), server(pool_tokens=None)], ids=["no graphs", "unknown pool"])
def test_without_graphs_or_a_known_pool_there_are_none(sizes: Server) -> None:
    assert guards(sizes, case=scenario(CPU)) == Workload((), ())


def test_each_layer_kind_is_guarded() -> None:
    made = guards(server(pool_tokens=400_000), case=scenario(asked=GEMMA3))
    assert [(weighted.cell.name, weighted.layers) for weighted in made.cells] == [
        ("decode-fullest-full", 10),
        ("decode-longest-full", 10),
        ("decode-fullest-window", 52),
        ("decode-longest-window", 52),
    ]


def test_guards_leave_the_traffics_cells_their_cold_pools_and_say_what_that_costs() -> None:
    case = scenario(traffic=replace(CHAT, concurrency=4))
    made = guards(server(), 1, 64, case=case)
    traffic = cells_for(case, server(), rank_layers(case), 1).cells
    slots = max(slots_wanted(weighted.cell, H100.l2_bytes or 0, 2, "cuda") for weighted in traffic)
    tokens = affordable_tokens(case, traffic, arms(1, 64))
    layer_bytes = server().kv_bytes_per_token / case.model.attention_layers
    assert 2 * tokens * slots * layer_bytes <= 0.6 * (H100.memory_bytes or 0)
    assert sum(cell("decode-fullest", made).context_lens) <= tokens < 10**7
    assert made.notes == (f"guards hold at most {tokens} of the 10000000 tokens of the KV pool: measure.memory_fraction allows no more",)


def test_guards_that_are_as_large_as_the_server_allows_need_no_remark() -> None:
    assert guards(server(pool_tokens=400_000)).notes == ()


def test_guards_are_at_least_as_large_as_what_traffic_itself_puts_into_a_pool() -> None:
    """A window makes traffic's cells cold in far more layers than there is memory for: the pool has room for their contexts anyway."""
    case = scenario(asked=GEMMA3, traffic=replace(CHAT, concurrency=1, prompt=Lengths(60_000, 120_000)))
    largest = max(sum(weighted.cell.context_lens) for weighted in cells_for(case, server(), rank_layers(case), 1).cells)
    made = guards(server(), 1, 64, case=case)
    assert sum(cell("decode-fullest-window", made).context_lens) > largest / 2
    assert affordable_tokens(case, cells_for(case, server(), rank_layers(case), 1).cells, arms(1)) >= largest


def test_layers_that_are_cached_in_two_geometries_share_the_memory() -> None:
    full, window = GEMMA3.layers
    alike, apart = (scenario(asked=replace(GEMMA3, layers=(full, kind))) for kind in (window, replace(window, value_head_dim=64)))
    one, two = (affordable_tokens(case, cells_for(case, server(), rank_layers(case), 1).cells, arms(1)) for case in (alike, apart))
    assert two < 0.6 * one
