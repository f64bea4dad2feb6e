from __future__ import annotations

import pytest
import torch

from backends.kv.pool import build_pool, row_bytes
from backends.kv.rotation import PoolPlan
from tests.backends.small import LAYER

CPU = torch.device("cpu")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float8_e4m3fn"])
def test_every_slot_holds_its_own_noise_in_the_storage_dtype(dtype: str) -> None:
    pool = build_pool(PoolPlan(16, dtype, 480, 3), LAYER, CPU, seed=0)
    layers = [layer.float() for layer in (*pool.k, *pool.v)]
    assert {tuple(layer.shape) for layer in layers} == {(496, 2, 64)}
    assert {layer.dtype for layer in pool.k} == {getattr(torch, dtype)}
    for layer in layers:
        assert abs(float(layer.mean())) < 0.05 and abs(float(layer.std()) - 1) < 0.05
    assert not any(torch.equal(a, b) for i, a in enumerate(layers) for b in layers[:i])


def test_the_seed_decides_the_noise() -> None:
    first, again, other = (build_pool(PoolPlan(1, "float32", 8, 1), LAYER, CPU, seed).k[0] for seed in (5, 5, 6))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_row_bytes_reach_the_pool_itself() -> None:
    layer = build_pool(PoolPlan(1, "bfloat16", 8, 1), LAYER, CPU, 0).k[0]
    row_bytes(layer)[torch.tensor([3])] = 0xFF
    assert bool(layer[3].isnan().all()) and bool(layer[[0, 1, 2, 4]].isfinite().all())
