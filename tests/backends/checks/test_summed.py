"""The budget of heads whose products are summed in their own dtype, against sums that really round, and what is wrong beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from backends.checks.checker import Checker
from backends.checks.summed import of_summed
from backends.checks.tolerance import TAU, Errors, Incorrect, relative_errors
from backends.deviation import Deviation, Step
from backends.driver import CellData
from backends.model import LayerKind
from tests.backends import faulty
from tests.backends.rounded import SummedNarrowly, summed
from tests.backends.small import decode, laid_out

HEADS, SEEDS = 4, 3
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
LAYERS = [LayerKind("full", 1, HEADS, HEADS, width, width) for width in (64, 128, 256)]
CELLS = [(layer, keys) for layer in LAYERS for keys in (2, 5, 33, 300, 2048)]
DECLARED = Deviation("sums narrowly", ("full",), (Step.DECODE,), 0, "made up", narrow_sums=True)
CELL = decode(5, 900, 2, 1500, 64, *range(300, 800, 50), layer=LAYERS[1], dtype="bfloat16")

Spoil = Callable[[torch.Tensor], torch.Tensor]


def errors(layer: LayerKind, keys: int, dtype: str, seed: int, in_turn: int) -> torch.Tensor:
    """Of outputs that are summed so, [rows, heads]."""
    noise = torch.Generator().manual_seed(seed)
    rows = max(4, min(128, 300_000 // (keys * layer.head_dim)))
    q, k, v = (torch.randn(size, HEADS, layer.head_dim, generator=noise).to(DTYPES[dtype]) for size in (rows, keys, keys))
    found, right = torch.empty(rows, HEADS, layer.head_dim), torch.empty(rows, HEADS, layer.head_dim, dtype=torch.float64)
    for row, query in enumerate(q):
        scores = summed(query * k, in_turn).float() * layer.softmax_scale
        exact = (query.double() * k.double()).sum(-1) * layer.softmax_scale
        found[row] = torch.einsum("kh,khd->hd", torch.softmax(scores, 0), v.float())
        right[row] = torch.einsum("kh,khd->hd", torch.softmax(exact, 0), v.double())
    return relative_errors(found.to(DTYPES[dtype]).double(), right)


@pytest.mark.parametrize("in_turn", [1, 8], ids=["in pairs", "eight in turn"])
@pytest.mark.parametrize(("layer", "keys"), CELLS, ids=lambda each: str(each if isinstance(each, int) else each.head_dim))
def test_sums_that_round_stay_within_the_budget_and_fill_much_of_it(layer: LayerKind, keys: int, in_turn: int) -> None:
    found = torch.cat([errors(layer, keys, "bfloat16", seed, in_turn) for seed in range(SEEDS)])
    allowed, mean = of_summed("bfloat16", layer, found.numel()).over(torch.full((len(found),), keys))
    assert (found <= allowed).all() and float(found.max()) > float(allowed[0]) / 5
    assert mean / 3 < float(found.square().mean().sqrt()) <= mean


def test_a_dtype_of_three_more_bits_has_an_eighth_of_the_budget() -> None:
    wide, narrow = (of_summed(dtype, LAYERS[1], 1000) for dtype in ("float16", "bfloat16"))
    assert narrow.rms(300) == pytest.approx(8 * wide.rms(300), rel=0.01)
    found = errors(LAYERS[1], 300, "float16", 0, 8)
    assert wide.rms(300) / 3 < float(found.square().mean().sqrt()) <= wide.rms(300)


def checked(call: SummedNarrowly, data: CellData, spoil: Spoil = lambda output: output, known: Deviation | None = DECLARED) -> Errors:
    checker = Checker(data, 1, None, known)
    found = checker.check(lambda: spoil(call.launch(1)), [1])
    checker.check_needles(lambda: spoil(call.launch(1)))
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_is_right_where_it_is_declared_and_wrong_where_it_is_not(dtype: str) -> None:
    for seed in range(4):
        data = laid_out(replace(CELL, dtype=dtype, seed=seed))
        assert checked(SummedNarrowly(data), data).largest > TAU[dtype]
        with pytest.raises(Incorrect, match="at most"):
            checked(SummedNarrowly(data), data, known=None)


@pytest.mark.parametrize("sight", ["newest", "oldest", "first_page", "half"])
def test_a_call_that_loses_a_key_is_wrong_none_the_less(sight: str) -> None:
    data = laid_out(CELL, page_size=16)
    checker = Checker(data, 1, None, DECLARED)
    checker.check(lambda: SummedNarrowly(data).launch(1), [1])
    with pytest.raises(Incorrect, match="a query aimed at one key"):
        checker.check_needles(lambda: SummedNarrowly(data, getattr(faulty, sight)).launch(1))


@pytest.mark.parametrize(
    "spoil",
    [lambda output: output.roll(1, dims=1), lambda output: output * 1.02, lambda output: output + 0.02 * output.roll(1, dims=1)],
    ids=["heads mixed up", "two percent too much", "a fiftieth of another head"],
)
def test_outputs_that_are_off_by_two_percent_are_wrong_none_the_less(spoil: Spoil) -> None:
    data = laid_out(CELL)
    with pytest.raises(Incorrect, match="relative error"):
        checked(SummedNarrowly(data), data, spoil)


@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_another_softmax_scale_is_wrong_none_the_less(factor: float) -> None:
    data = laid_out(CELL)
    call = SummedNarrowly(data)
    call.scale = factor
    with pytest.raises(Incorrect, match="relative error"):
        checked(call, data)
