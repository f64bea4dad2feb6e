from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from backends.cell import Cell
from backends.checks.checker import Checker
from backends.checks.tolerance import Incorrect
from tests.backends.faulty import ForgetsTheWrite, LeavesOneUnwritten, PlainCall, last_of_the_first_page
from tests.backends.small import LAYER, decode, laid_out, prefill


def test_a_right_arm_passes_with_noise_and_with_needles() -> None:
    data = laid_out(decode(300, 40, 111, dtype="bfloat16"), page_size=16)
    checker, call = Checker(data, 1, None), PlainCall(data)
    assert 0 < checker.check(lambda: call.launch(1), [1]).largest < 4e-3
    assert checker.check_needles(lambda: call.launch(1)) < 1e-2
    assert checker.coverage() is None


def test_padded_rows_and_flattened_heads_are_put_right() -> None:
    data = laid_out(decode(300, 40))
    call = PlainCall(data)

    def padded() -> torch.Tensor:
        return torch.cat([call.launch(1).flatten(1), torch.full((3, 512), torch.nan)])

    assert Checker(data, 1, None).check(padded, [1]).largest < 1e-5


@pytest.mark.parametrize("cell", [decode(300, 40), prefill((0, 50), (30, 20))], ids=["decode", "prefill"])
def test_an_arm_that_does_not_write_its_rows_to_the_pool_is_wrong_though_its_outputs_are_right(cell: Cell) -> None:
    data = laid_out(cell)
    call = ForgetsTheWrite(data)
    with pytest.raises(Incorrect, match="new keys were not written to pool slot 1 as given"):
        Checker(data, 1, None).check(lambda: call.launch(1), [1])


def test_every_slot_a_replay_should_write_to_is_looked_at() -> None:
    data = laid_out(decode(300), slots=3)
    call = PlainCall(data)
    with pytest.raises(Incorrect, match="1 of 1 new keys were not written to pool slot 0"):
        Checker(data, 2, None).check(lambda: call.launch(2), [2, 0])


def test_an_element_never_written_is_wrong() -> None:
    data = laid_out(decode(300))
    call = LeavesOneUnwritten(data)
    with pytest.raises(Incorrect, match="wrong, or never written"):
        Checker(data, 1, None).check(lambda: call.launch(1), [1])


def test_a_key_lost_among_very_many_passes_with_noise_and_fails_with_needles() -> None:
    data = laid_out(decode(4000, dtype="bfloat16"))
    checker, call = Checker(data, 0, None), PlainCall(data, last_of_the_first_page)
    noise_error = checker.check(lambda: PlainCall(data).launch(0), [0]).largest
    assert noise_error < 8e-3
    with pytest.raises(Incorrect, match="a query aimed at one key"):
        checker.check_needles(lambda: call.launch(0))


def test_a_kernel_that_knows_no_sinks_is_wrong_at_any_length() -> None:
    for context in (40, 4000):
        data = laid_out(decode(context, layer=replace(LAYER, sinks=True)))
        call = PlainCall(data)
        with pytest.raises(Incorrect, match="relative error"):
            Checker(data, 1, None).check(lambda call=call: call.launch(1), [1])


@pytest.mark.parametrize("scales", [None, (0.5, 0.25)])
def test_a_narrow_cache_is_checked_as_the_scales_it_is_written_with_say(scales: tuple[float, float] | None) -> None:
    data = laid_out(decode(300, 40, dtype="bfloat16"), kv_dtype="float8_e4m3fn")
    data.pool.scales = scales
    call = PlainCall(data)
    factors = scales or (1.0, 1.0)

    def shot() -> torch.Tensor:
        output = call.launch(1)
        for layer, new, factor in zip((data.pool.k[1], data.pool.v[1]), (data.k_new, data.v_new), factors):
            layer[data.out_cache_loc] = (new / factor).to(layer.dtype)
        return output

    checker = Checker(data, 1, None)
    if scales is None:
        assert checker.check(shot, [1]).largest < 1e-2
    else:
        shot()
        with pytest.raises(Incorrect, match="new keys were not written"):
            checker.check(lambda: call.launch(1), [1])
