from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.scenario import Role, Speculation
from tests.asking import gpu
from tests.tuner.composed import composed
from tests.tuner.scenarios import CPU, DSV3, GIB, LLAMA, engine, scenario
from tuner.engines.sglang.memory import (
    captured_batches,
    chunked_prefill_size,
    kv_bytes_per_token,
    mem_fraction,
    prefill_graphs,
    server_for,
    static_bytes,
)
from tuner.planning.notes import traffic_notes
from tuner.workload.cells import padded_batch
from tuner.workload.kv_size import pool_tokens
from tuner.workload.ranks import Ranks


@pytest.mark.parametrize(
    ("gib", "newer", "older"),
    [(16, 2048, 2048), (24, 4096, 2048), (48, 4096, 4096), (80, 8192, 8192), (141, 8192, 8192), (180, 16384, 16384)],
)
def test_the_prefill_chunk_follows_the_memory(gib: int, newer: int, older: int) -> None:
    assert chunked_prefill_size(gib * GIB, "0.5.22") == newer
    assert chunked_prefill_size(gib * GIB, "0.5.16") == older


def test_an_unknown_memory_has_a_chunk_of_its_own() -> None:
    assert chunked_prefill_size(None, "0.5.22") == 4096


def test_captured_batches_are_those_of_the_engine() -> None:
    assert captured_batches(8, False) == (1, 2, 4, 8)
    assert captured_batches(32, False) == (1, 2, 4, 8, 12, 16, 24, 32)
    assert captured_batches(256, False)[-3:] == (240, 248, 256)
    assert captured_batches(512, False)[-3:] == (480, 496, 512)
    assert captured_batches(10, True) == (1, 2, 3, 4, 5, 6, 7, 8, 10)
    assert 30 in captured_batches(30, False)


@given(st.integers(1, 600), st.integers(1, 512), st.booleans())
def test_a_batch_is_padded_to_the_next_captured_size_or_left_alone(batch: int, largest: int, drafts: bool) -> None:
    captured = captured_batches(largest, drafts)
    padded = padded_batch(batch, captured)
    assert padded == (min(size for size in captured if size >= batch) if batch <= largest else batch)


def test_without_captured_sizes_nothing_is_padded() -> None:
    assert padded_batch(13, ()) == 13


def test_prefill_graphs_are_counted_as_the_engine_lists_them() -> None:
    assert [prefill_graphs(tokens) for tokens in (3, 4, 32, 256, 512, 1024, 4096)] == [0, 1, 8, 22, 30, 38, 50]
    assert prefill_graphs(8192) == 58


def test_the_memory_fraction_follows_the_engine_s_formula() -> None:
    small = gpu(89, memory_bytes=22 * GIB)
    reserved = 512 + 1.5 * 4096 + 128 + 2 * 48 + 8 * 50
    assert mem_fraction(small, 4096, 48, engine(), LLAMA.attention) == round(1 - reserved / (22 * 1024), 3)
    assert mem_fraction(gpu(90, memory_bytes=100 * GIB), 2048, 8, engine(), LLAMA.attention) == 0.9  # at least 10 GiB are left
    assert mem_fraction(gpu(90, memory_bytes=None), 2048, 8, engine(), LLAMA.attention) is None


def test_a_token_of_kv_counts_every_layer_and_mla_stores_k_alone() -> None:
    assert kv_bytes_per_token(LLAMA, "bfloat16", Ranks(1)) == 32 * 8 * (128 + 128) * 2
    assert kv_bytes_per_token(LLAMA, "float8_e4m3fn", Ranks(4)) == 32 * 2 * (128 + 128)
    assert kv_bytes_per_token(DSV3, "bfloat16", Ranks(8)) == 61 * 576 * 2


def test_ranks_that_split_a_context_hold_a_share_of_each_token() -> None:
    assert kv_bytes_per_token(DSV3, "bfloat16", Ranks(8, dcp=8)) == 61 * 576 * 2 // 8
    assert kv_bytes_per_token(replace(LLAMA, layers=(replace(LLAMA.layers[0], kv_heads=4),)), "bfloat16", Ranks(8, dcp=2)) == 32 * 256


def test_groups_of_requests_pad_their_graphs_and_prefill_an_eighth_of_the_chunk_each() -> None:
    board = gpu(90, memory_bytes=150 * GIB)
    reserved = 512 + 1.5 * 8192 + 128 * 8 + 512 * (2 + 4.5 * 8) + 8 * 58
    assert mem_fraction(board, 8192, 512, engine(tensor_parallel=8, attn_dp_size=8), LLAMA.attention) == round(1 - reserved / 153600, 3)
    sized = server_for(scenario(board, tensor_parallel=8, attn_dp_size=8, speculation=Speculation("EAGLE")), "0.5.22", 1)
    assert (sized.chunked_prefill_size, sized.max_running_requests) == (1024, 6)


@pytest.mark.parametrize(
    ("role", "reserved"),
    [(Role.PREFILL, 512 + 1.5 * 4096 + 128 + 8 * 50), (Role.DECODE, 512 + 1.5 * 2048 + 128 + 2 * 48)],
)
def test_a_server_of_one_phase_reserves_for_that_phase_alone(role: Role, reserved: float) -> None:
    board = gpu(89, memory_bytes=22 * GIB)
    assert mem_fraction(board, 4096, 48, engine(role=role), LLAMA.attention) == round(1 - reserved / (22 * 1024), 3)


def test_a_server_without_graphs_captures_nothing_and_reserves_nothing_for_them() -> None:
    board, off = gpu(89, memory_bytes=22 * GIB), engine(disable_cuda_graph=True)
    assert mem_fraction(board, 4096, 48, off, LLAMA.attention) == round(1 - (512 + 1.5 * 4096 + 128) / (22 * 1024), 3)
    assert server_for(scenario(disable_cuda_graph=True), "0.5.22", 1).captured_batches == ()


def test_the_batches_that_are_captured_are_those_the_user_lists_or_bounds() -> None:
    listed = server_for(scenario(cuda_graph_bs=(96, 8, 32)), "0.5.22", 1)
    bounded = server_for(scenario(cuda_graph_max_bs=96), "0.5.22", 1)
    assert listed.captured_batches == (8, 32, 96) and bounded.captured_batches == captured_batches(96, False)
    assert listed.mem_fraction_static == bounded.mem_fraction_static  # the reserve is for the largest


def test_narrow_weights_leave_more_for_the_pool() -> None:
    board = gpu(90, memory_bytes=150 * GIB)
    wide, narrow = (server_for(scenario(board, replace(LLAMA, weight_bits=bits)), "0.5.22", 1) for bits in (None, 8.0))
    assert (wide.weight_bytes, narrow.weight_bytes) == (16e9, 8e9)
    assert wide.pool_tokens is not None and narrow.pool_tokens is not None
    assert narrow.pool_tokens - wide.pool_tokens == pytest.approx(8e9 / 131072, abs=1)


def test_the_pool_is_whole_pages_of_what_weights_leave() -> None:
    assert pool_tokens(900, 400, 7, 1) == 71
    assert pool_tokens(900, 400, 7, 64) == 64
    assert pool_tokens(900, 900, 7, 1) is None
    assert pool_tokens(None, 0, 7, 1) is None


@pytest.mark.parametrize(
    ("board", "fraction", "logged", "within"),
    [("h200", 0.8, 698_876, 0.001), ("l4", 0.85, 24_094, 0.01)],
    ids=["an H200's server of SGLang 0.5.16, by its log", "a published L4's (h12-l4-tie), whose fraction is guessed"],
)
def test_the_pool_is_the_one_that_a_server_of_qwen3_8b_logged(board: str, fraction: float, logged: int, within: float) -> None:
    asked = composed("model=qwen3_8b", f"gpu={board}", f"engine.mem_fraction_static={fraction}").scenario
    assert server_for(asked, "0.5.16", 1).pool_tokens == pytest.approx(logged, rel=within)


def test_the_fraction_is_one_of_what_is_free_where_the_engine_asks_the_driver_and_of_all_elsewhere() -> None:
    whole = gpu(90, memory_bytes=100 * GIB)
    assert static_bytes(whole, 0.5) == int((100 * GIB - 0.5 * GIB - 0.6 * GIB) * 0.5)
    assert static_bytes(replace(whole, kind="cpu"), 0.5) == 50 * GIB
    assert static_bytes(whole, None) is None and static_bytes(replace(whole, memory_bytes=None), 0.5) is None


def test_a_server_is_sized_from_the_scenario() -> None:
    h200 = gpu(90, memory_bytes=150754820096)
    sized = server_for(scenario(h200), "0.5.22", 1)
    assert (sized.chunked_prefill_size, max(sized.captured_batches), sized.context_length) == (8192, 256, 131072)
    assert sized.weight_bytes == 16e9
    assert sized.pool_tokens is not None and 850_000 < sized.pool_tokens < 950_000
    assert max(server_for(scenario(h200, tensor_parallel=4), "0.5.22", 1).captured_batches) == 512


def test_what_the_user_set_stands_before_the_formulas() -> None:
    sized = server_for(scenario(context_length=4096, mem_fraction_static=0.5), "0.5.22", 1)
    assert (sized.context_length, sized.mem_fraction_static) == (4096, 0.5)


def test_drafts_bound_the_running_requests() -> None:
    assert server_for(scenario(speculation=Speculation("EAGLE")), "0.5.22", 1).max_running_requests == 48
    assert server_for(scenario(), "0.5.22", 1).max_running_requests is None


def test_a_cpu_captures_nothing() -> None:
    assert server_for(scenario(CPU, replace(LLAMA, dtype="float32")), "0.5.22", 1).captured_batches == ()


def test_an_l4_has_no_pool_by_the_default_fraction_and_a_plan_says_so_and_from_which_on_there_is_one() -> None:
    """Qwen3-8B: the 24,094 tokens of a published server (h12-l4-tie) are no default's."""
    asked = composed("model=qwen3_8b", "gpu=l4").scenario
    server = server_for(asked, "0.5.22", 1)
    assert (server.mem_fraction_static, server.pool_tokens) == (0.684, None)
    (note,) = (note for note in traffic_notes(asked, server) if "KV capacity is unknown" in note)
    least = float(re.findall(r"mem_fraction_static above (0\.\d+)", note)[0])

    def pool(fraction: float) -> int | None:
        return server_for(replace(asked, engine=replace(asked.engine, mem_fraction_static=fraction)), "0.5.22", 1).pool_tokens

    assert pool(least - 0.001) is None and pool(least + 0.001) is not None


@pytest.mark.parametrize(("at_once", "queues"), [(4, False), (64, True)])
def test_traffic_beyond_the_kv_capacity_says_at_how_many_requests_it_queues(at_once: int, queues: bool) -> None:
    asked = composed("model=qwen3_8b", "gpu=l4", "engine.mem_fraction_static=0.85", f"traffic.concurrency={at_once}").scenario
    notes = [note for note in traffic_notes(asked, server_for(asked, "0.5.22", 1)) if "exceeds the KV capacity" in note]
    assert bool(notes) is queues
    if queues:
        assert 4 < int(re.findall(r"holds some (\d+) of these requests", notes[0])[0]) < 64 and "of 64 the others queue" in notes[0]


def test_a_pool_of_less_than_a_chunk_is_said() -> None:
    asked = composed("model=qwen3_8b", "gpu=l4", "engine.mem_fraction_static=0.7").scenario
    assert any("less than one prefill chunk of 4096" in note for note in traffic_notes(asked, server_for(asked, "0.5.22", 1)))
