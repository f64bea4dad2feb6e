"""The budget of an 8-bit KV cache against arithmetic that really rounds, at many seeds."""

from __future__ import annotations

import pytest
import torch

from backends.checks.narrow import Narrow
from backends.checks.tolerance import relative_errors
from backends.model import LayerKind

FORMATS = {"float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2}
HEADS, SEEDS = 4, 4
LAYERS = [LayerKind("full", 1, HEADS, HEADS, width, width) for width in (64, 128, 256)]
LATENT = LayerKind("full", 1, HEADS, HEADS, 576, 512, scale=0.1352)  # its logits spread 3.2 times as far
CELLS = [(layer, keys) for layer in LAYERS for keys in (1, 2, 5, 33, 300, 4096)] + [(LATENT, keys) for keys in (2, 33, 300)]


def rounded(values: torch.Tensor, kv_dtype: str, scale: float = 1.0) -> torch.Tensor:
    return (values / scale).to(FORMATS[kv_dtype]).float() * scale


def operands(layer: LayerKind, keys: int, seed: int) -> tuple[torch.Tensor, ...]:
    """Queries, keys and values, [rows, heads, width]."""
    noise = torch.Generator().manual_seed(seed)
    rows = max(8, 2048 // keys)
    sizes = ((rows, layer.head_dim), (keys, layer.head_dim), (keys, layer.value_head_dim))
    return tuple(torch.randn(count, HEADS, width, generator=noise) for count, width in sizes)


def exact(layer: LayerKind, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(torch.einsum("rhd,khd->rhk", q, k) * layer.softmax_scale, dim=-1)
    return torch.einsum("rhk,khd->rhd", weights, v)


def narrowed(layer: LayerKind, kv_dtype: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """All four operands rounded, as a kernel on FP8 tensor cores has them; weights before they are divided by their sum."""
    scores = torch.einsum("rhd,khd->rhk", rounded(q, kv_dtype), k) * layer.softmax_scale
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    return torch.einsum("rhk,khd->rhd", rounded(weights, kv_dtype, 1 / 256), v) / weights.sum(-1, keepdim=True)


def errors(layer: LayerKind, keys: int, kv_dtype: str, seed: int, scales: tuple[float, float] = (1.0, 1.0)) -> torch.Tensor:
    q, k, v = operands(layer, keys, seed)
    stored = (rounded(each, kv_dtype, scale) for each, scale in zip((k, v), scales, strict=True))
    return relative_errors(narrowed(layer, kv_dtype, q, *stored), exact(layer, q, k, v))


def budget(layer: LayerKind, kv_dtype: str, outputs: int) -> Narrow:
    return Narrow(kv_dtype, layer, outputs, own=0.0)


@pytest.mark.parametrize("kv_dtype", FORMATS)
@pytest.mark.parametrize(("layer", "keys"), CELLS, ids=lambda each: str(each if isinstance(each, int) else each.head_dim))
def test_rounding_of_all_operands_stays_within_the_budget_and_fills_much_of_it(layer: LayerKind, keys: int, kv_dtype: str) -> None:
    found = torch.cat([errors(layer, keys, kv_dtype, seed) for seed in range(SEEDS)])
    allowed, mean = budget(layer, kv_dtype, found.numel()).over(torch.full((len(found),), keys))
    assert (found <= allowed).all() and float(found.max()) > float(allowed[0]) / 3
    assert mean / 3 < float(found.square().mean().sqrt()) <= mean


@pytest.mark.parametrize("scales", [(0.5, 0.25), (0.037, 1.7)])
def test_scales_do_not_change_the_budget(scales: tuple[float, float]) -> None:
    found = errors(LAYERS[1], 300, "float8_e4m3fn", 1, scales)
    allowed, mean = budget(LAYERS[1], "float8_e4m3fn", found.numel()).over(torch.full((len(found),), 300))
    assert (found <= allowed).all() and float(found.square().mean().sqrt()) <= mean


@pytest.mark.parametrize("kv_dtype", FORMATS)
@pytest.mark.parametrize("layer", [LAYERS[0], LAYERS[1], LATENT], ids=lambda layer: str(layer.head_dim))
@pytest.mark.parametrize(
    "ignored", [(0.5, 1.0), (1.0, 0.25), (1.5, 1.0), (1.0, 1.5)], ids=["keys", "values", "keys by half", "values by half"]
)
def test_a_kernel_that_ignores_a_scale_is_beyond_the_budget(layer: LayerKind, kv_dtype: str, ignored: tuple[float, float]) -> None:
    q, k, v = operands(layer, 300, 5)
    stored = (rounded(each / scale, kv_dtype) for each, scale in zip((k, v), ignored, strict=True))
    found = relative_errors(narrowed(layer, kv_dtype, q, *stored), exact(layer, q, k, v))
    _, mean = budget(layer, kv_dtype, found.numel()).over(torch.full((len(found),), 300))
    assert float(found.square().mean().sqrt()) > mean


def test_two_bits_of_mantissa_have_twice_the_budget_of_three() -> None:
    three, two = (budget(LAYERS[1], kv_dtype, 1000) for kv_dtype in FORMATS)
    assert two.rms(1) == pytest.approx(2 * three.rms(1)) and two.largest_rounding == 2 * three.largest_rounding == 2**-3


def test_each_row_has_the_budget_of_the_keys_it_sees() -> None:
    narrow = budget(LAYERS[1], "float8_e4m3fn", 1000)
    allowed, mean = narrow.over(torch.tensor([300, 1, 300, 4096]))
    assert allowed.flatten().tolist() == pytest.approx([narrow.largest(keys) for keys in (300, 1, 300, 4096)])
    assert narrow.rms(1) < mean and narrow.largest(1) < narrow.largest(4096) < narrow.largest(300)
