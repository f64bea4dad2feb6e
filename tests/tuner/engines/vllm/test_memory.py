from __future__ import annotations

import pytest

from store.scenario import Role
from tests.asking import gpu
from tests.tuner.engines.vllm.served import on_vllm
from tests.tuner.scenarios import B200, CPU, DSV3, GIB, H100, LLAMA
from tuner.engines.vllm.memory import captured_batches, server_for, step_sizes
from tuner.engines.vllm.rules import resolved_kv_dtype
from tuner.schema.engine import KV_CACHE_DTYPES


@pytest.mark.parametrize(
    ("name", "sm", "gib", "expected"),
    [
        ("H200", 90, 141, (8192, 1024)),
        ("NVIDIA A100-SXM4-80GB", 80, 80, (2048, 256)),
        ("B200", 100, 180, (16384, 1024)),
        ("L40S", 89, 48, (2048, 256)),
        ("GB10", 121, 120, (2048, 256)),
    ],
)
def test_a_step_and_a_batch_follow_the_gpu(name: str, sm: int, gib: int, expected: tuple[int, int]) -> None:
    assert step_sizes(gpu(sm, name=name, memory_bytes=gib * GIB), 1) == expected


def test_graphs_are_captured_for_small_batches_then_in_steps_up_to_a_ceiling() -> None:
    hopper = captured_batches(H100, 8192, 1024)
    assert hopper[:5] == (1, 2, 4, 8, 16) and hopper[-2:] == (496, 512) and 248 in hopper and 264 not in hopper
    assert captured_batches(B200, 16384, 1024)[-1] == 1024
    assert captured_batches(H100, 2048, 100)[-1] == 200 and 100 in captured_batches(H100, 2048, 100)


def test_the_pool_is_what_the_share_of_memory_leaves_beside_the_weights() -> None:
    board = gpu(90, memory_bytes=100 * GIB)
    server = server_for(on_vllm(board, LLAMA), "0.33.0", 16)
    assert server.kv_bytes_per_token == 32 * 8 * 128 * 2 * 2
    room = 0.92 * 100 * GIB - server.weight_bytes
    assert server.pool_tokens == int(room / server.kv_bytes_per_token) // 16 * 16
    own = server_for(on_vllm(board, LLAMA, mem_fraction_static=0.5), "0.33.0", 16)
    assert own.pool_tokens is not None and own.pool_tokens < server.pool_tokens


def test_one_side_of_a_deployment_and_a_cpu_capture_nothing() -> None:
    assert server_for(on_vllm(role=Role.PREFILL), "0.33.0", 16).captured_batches == ()
    assert server_for(on_vllm(CPU), "0.33.0", 128).captured_batches == ()


@pytest.mark.parametrize("word", KV_CACHE_DTYPES["vllm"])
def test_every_kv_dtype_has_a_size(word: str) -> None:
    for asked in (LLAMA, DSV3):
        server = server_for(on_vllm(H100, asked, kv_cache_dtype=word, tensor_parallel=8), "0.33.0", 64)
        assert 0 < server.kv_bytes_per_token <= server_for(on_vllm(H100, asked, tensor_parallel=8), "0.33.0", 64).kv_bytes_per_token


def test_a_declared_kv_dtype_is_taken_where_the_user_names_none() -> None:
    from dataclasses import replace

    declared = replace(LLAMA, declared_kv_dtype="float8_e4m3fn")
    assert resolved_kv_dtype(declared, "auto") == "float8_e4m3fn" and resolved_kv_dtype(declared, "bfloat16") == "bfloat16"
    assert resolved_kv_dtype(LLAMA, "fp8") == "float8_e4m3fn" and resolved_kv_dtype(LLAMA, "auto") == "bfloat16"
