"""Right calls that round on the way pass the whole check, and what is wrong in them shows none the less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from backends.cell import Cell
from backends.checks.checker import Checker
from backends.checks.narrow import Narrow, of_projected
from backends.checks.needles import LIMIT
from backends.checks.tolerance import TAU, Errors, Incorrect
from backends.driver import CellData
from backends.latent import attended
from backends.model import LayerKind
from tests.backends import faulty
from tests.backends.rounded import BesideNarrow, ProjectedDown, ProjectedUp, RoundedCall
from tests.backends.small import LAYER, WINDOWED, decode, laid_out, prefill

AS_SERVED = LayerKind("full", layers=2, query_heads=4, kv_heads=1, head_dim=576, value_head_dim=512, scale=0.1352)
LATENT = attended(AS_SERVED, "DeepseekV3ForCausalLM", generates=False)
PROJECTED = prefill((100, 200), (0, 37), (90, 1), layer=LATENT, dtype="bfloat16")
E4M3, E5M2 = "float8_e4m3fn", "float8_e5m2"
FRESH = prefill((0, 400), (0, 37), dtype="bfloat16")
PREFIXED = prefill((200, 200), (90, 37), dtype="bfloat16")

Spoil = Callable[[torch.Tensor], torch.Tensor]


def checked(call: RoundedCall, data: CellData, spoil: Spoil = lambda output: output) -> tuple[Errors, float]:
    checker = Checker(data, 1, None)
    return checker.check(lambda: spoil(call.launch(1)), [1]), checker.check_needles(lambda: spoil(call.launch(1)))


def narrow(cell: Cell, kv_dtype: str) -> CellData:
    return laid_out(cell, kv_dtype=kv_dtype)


@pytest.mark.parametrize("form", [ProjectedUp, ProjectedDown])
def test_latent_heads_that_are_projected_in_their_own_dtype_are_right_in_either_form(form: type[RoundedCall]) -> None:
    budget = of_projected("bfloat16", LATENT, PROJECTED.new_tokens * LATENT.query_heads)
    for seed in range(3):
        data = laid_out(replace(PROJECTED, seed=seed))
        errors, needles = checked(form(data), data)
        assert errors.largest > budget.largest(300) / 3 and errors.rms > budget.rms(300) / 3
        assert needles < LIMIT / 3


def test_a_projected_head_may_err_more_than_heads_that_are_cached_as_they_are() -> None:
    data = laid_out(replace(PROJECTED, seed=0))
    errors, _ = checked(ProjectedUp(data), data)
    assert errors.largest > TAU["bfloat16"]


@pytest.mark.parametrize("form", [ProjectedUp, ProjectedDown])
@pytest.mark.parametrize("sight", ["newest", "oldest", "first_page", "the_future"])
def test_a_projected_head_that_loses_a_key_or_sees_the_next_one_is_wrong(form: type[RoundedCall], sight: str) -> None:
    data = laid_out(PROJECTED, page_size=16)
    call, checker = form(data, getattr(faulty, sight)), Checker(data, 1, None)
    with pytest.raises(Incorrect, match="relative error"):
        checker.check(lambda: call.launch(1), [1])
    checker.check(lambda: form(data).launch(1), [1])
    with pytest.raises(Incorrect, match="a query aimed at one key"):
        checker.check_needles(lambda: call.launch(1))


@pytest.mark.parametrize("form", [ProjectedUp, ProjectedDown])
@pytest.mark.parametrize(
    "spoil",
    [lambda output: output.roll(1, dims=1), lambda output: output * 1.01, lambda output: output + 0.01 * output.roll(1, dims=1)],
    ids=["heads mixed up", "one percent too much", "a hundredth of another head"],
)
def test_projected_outputs_that_are_off_by_one_percent_are_wrong(form: type[RoundedCall], spoil: Spoil) -> None:
    data = laid_out(PROJECTED)
    with pytest.raises(Incorrect, match="relative error"):
        checked(form(data), data, spoil)


@pytest.mark.parametrize("form", [ProjectedUp, ProjectedDown])
@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_projected_heads_at_another_softmax_scale_are_wrong(form: type[RoundedCall], factor: float) -> None:
    data = laid_out(PROJECTED)
    layer = replace(LATENT, scale=LATENT.softmax_scale * factor)
    call = form(replace(data, cell=replace(PROJECTED, layer=layer)))
    with pytest.raises(Incorrect, match="relative error"):
        checked(call, data)


@pytest.mark.parametrize("kv_dtype", [E4M3, E5M2])
@pytest.mark.parametrize("cell", [FRESH, PREFIXED, decode(300, 40, dtype="bfloat16")], ids=["fresh", "prefixed", "decode"])
def test_queries_and_weights_may_be_rounded_to_the_caches_dtype(cell: Cell, kv_dtype: str) -> None:
    for seed in range(4):
        data = narrow(replace(cell, seed=seed), kv_dtype)
        checked(BesideNarrow(data), data)


def test_a_query_beside_a_hidden_key_attends_to_many_and_errs_more_than_one_that_hangs_on_a_key() -> None:
    data = narrow(PREFIXED, E4M3)
    _, needles = checked(BesideNarrow(data), data)
    alone = Narrow(E4M3, LAYER, PREFIXED.new_tokens * LAYER.query_heads, TAU["bfloat16"])
    assert needles > LIMIT + alone.needle()


@pytest.mark.parametrize("kv_dtype", [E4M3, E5M2])
@pytest.mark.parametrize("sight", ["newest", "oldest", "the_future", "one_beyond_the_window"])
def test_a_kernel_beside_a_narrow_cache_that_loses_or_shows_a_key_is_wrong(sight: str, kv_dtype: str) -> None:
    layer = WINDOWED if sight == "one_beyond_the_window" else LAYER
    data = narrow(replace(PREFIXED, layer=layer), kv_dtype)
    checker = Checker(data, 1, None)
    checker.check(lambda: BesideNarrow(data).launch(1), [1])
    with pytest.raises(Incorrect, match="a query aimed at one key"):
        checker.check_needles(lambda: BesideNarrow(data, getattr(faulty, sight)).launch(1))
