from __future__ import annotations

from dataclasses import replace

import pytest

from backends.kv.rotation import NotEnoughMemory, PoolDemand, PoolPlan, plan_pools, slots_wanted
from backends.model import LayerKind
from tests.backends.small import decode, prefill

MIB = 1 << 20
LLAMA = LayerKind("full", 32, 32, 8, 128, 128)  # 4 KiB of bf16 KV a token and layer
H200_L2 = 60 * MIB


@pytest.mark.parametrize(("batch", "context", "slots"), [(1, 1024, 46), (8, 1024, 7), (64, 4096, 4)])
def test_an_h200_rotates_over_three_l2_caches_of_other_kv_and_at_least_four_pools(batch: int, context: int, slots: int) -> None:
    assert slots_wanted(decode(*[context] * batch, layer=LLAMA), H200_L2, 2, "cuda") == slots


def test_a_window_bounds_what_is_read_and_so_needs_more_pools() -> None:
    windowed = replace(LLAMA, sliding_window=128)
    assert slots_wanted(decode(4096, layer=windowed), H200_L2, 2, "cuda") > slots_wanted(decode(4096, layer=LLAMA), H200_L2, 2, "cuda")


def test_prefill_that_computes_a_hundred_times_longer_than_it_reads_needs_no_cold_cache() -> None:
    cell = prefill((0, 2048))
    assert slots_wanted(cell, 32 * MIB, 4, "cpu") == 4
    assert slots_wanted(cell, 32 * MIB, 4, "cuda") > 4  # a GPU reads more slowly than it computes


DEMAND = PoolDemand(page_size=16, kv_dtype="bfloat16", token_bytes=1000, needed_tokens=1600, slots=10)


def test_the_servers_pool_is_built_in_every_slot_if_it_fits() -> None:
    assert plan_pools([DEMAND], 8000, 10 * 1000 * 8016) == (PoolPlan(16, "bfloat16", 8000, 10),)


def test_a_short_budget_first_takes_tokens_down_to_what_the_cells_need() -> None:
    (plan,) = plan_pools([DEMAND], 8000, 10 * 1000 * 3000)
    assert plan.slots == 10
    assert plan.pool_tokens == 2976  # whole pages


def test_then_it_takes_slots_down_to_two() -> None:
    assert plan_pools([DEMAND], 8000, 3 * 1000 * 1700) == (PoolPlan(16, "bfloat16", 1600, 3),)
    with pytest.raises(NotEnoughMemory, match="two KV pools of 1600 tokens need 3200000 bytes, 3000000 are allowed"):
        plan_pools([DEMAND], 8000, 3_000_000)


def test_a_server_of_unknown_size_gets_all_that_fits_and_never_less_than_the_cells_need() -> None:
    assert plan_pools([DEMAND], None, 10 * 1000 * 5016)[0].pool_tokens == 4992  # whole pages of 5000
    assert plan_pools([DEMAND], 32, 10 * 1000 * 5016)[0].pool_tokens == 1600


def test_two_pools_share_the_budget() -> None:
    plans = plan_pools([DEMAND, replace(DEMAND, page_size=1)], None, 2 * 10 * 1000 * 2016)
    assert [plan.pool_tokens for plan in plans] == [2000, 2015]


def test_no_more_pools_than_a_graph_has_launches() -> None:
    assert slots_wanted(decode(2, layer=LLAMA), H200_L2, 2, "cuda") == 1024
