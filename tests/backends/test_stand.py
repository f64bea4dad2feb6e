from __future__ import annotations

from dataclasses import replace

import pytest

from backends.driver import Refused
from backends.kv.rotation import NotEnoughMemory
from backends.model import LayerKind
from backends.stand import Stand, open_stand
from backends.torch_bench import TorchBench
from tests.backends.small import CONTEXT_LENGTH, arm, decode, prefill, stage

pytestmark = pytest.mark.usefixtures("small_processor")

CELLS = (decode(200, 90), decode(900, name="long"), prefill((0, 60)))
P1, P1_AGAIN, P16 = arm("x:X", backend="a"), arm("x:X", backend="b"), arm("x:X", page_size=16, backend="c")


def stood(**fields: object) -> Stand:
    return open_stand(TorchBench("cpu"), stage(**fields), [P1, P1_AGAIN, P16], CELLS, seed=0)


def test_arms_of_one_page_size_and_dtype_share_a_pool_that_holds_the_largest_cell() -> None:
    stand = stood()
    assert stand.pool(CELLS[0], P1) is stand.pool(CELLS[0], P1_AGAIN) and stand.pool(CELLS[0], P1) is not stand.pool(CELLS[0], P16)
    assert stand.pool(CELLS[0], P1).pool_tokens == stand.pool(CELLS[0], P16).pool_tokens == 912  # 900 in whole pages of 16
    assert (stand.pool(CELLS[0], P1).page_size, stand.pool(CELLS[0], P16).page_size) == (1, 16)


def test_each_cell_rotates_over_no_more_pools_than_it_needs() -> None:
    stand = stood()
    assert stand.slots(CELLS[1], P1) < stand.slots(CELLS[0], P1) <= stand.pool(CELLS[0], P1).slots
    assert not stand.warm_risk(CELLS[0], P1)


def test_the_stage_knows_the_largest_batch_and_step() -> None:
    built = stood().stage
    assert (built.max_batch, built.max_new_tokens, built.context_length) == (2, 60, CONTEXT_LENGTH)


def test_short_memory_makes_a_warm_risk_and_none_at_all_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.stand.CPU_POOL_BYTES", 20 * 1024 * 1000)
    stand = stood()
    assert stand.warm_risk(CELLS[0], P1) and stand.slots(CELLS[0], P1) >= 2
    monkeypatch.setattr("backends.stand.CPU_POOL_BYTES", 1000)
    with pytest.raises(NotEnoughMemory, match="raise measure.memory_fraction"):
        stood()


def test_cells_of_two_geometries_have_a_pool_and_a_driver_each() -> None:
    other = replace(CELLS[0], name="other", layer=LayerKind("other", 1, 8, 8, 64, 32))
    one = arm("backends.torch_sdpa:TorchSdpa")
    stand = open_stand(TorchBench("cpu"), stage(), [one], [CELLS[0], other], seed=0)
    assert [stand.pool(cell, one).v[0].shape[1:] for cell in (CELLS[0], other)] == [(2, 64), (8, 32)]
    driver = stand.open_driver(one)
    assert driver.imports == ("torch",)
    for cell in (CELLS[0], other):
        data = stand.lay_out(cell, one)
        assert driver.prepare(data).launch(0).shape == (cell.new_tokens, 8, cell.layer.value_head_dim)


@pytest.mark.parametrize(("bits", "scales"), [(None, None), (8.0, (1.0, 1.0))])
def test_only_a_quantized_checkpoint_has_scales_for_an_8_bit_cache(bits: float | None, scales: object) -> None:
    narrow = replace(P1, kv_dtype="float8_e4m3fn")
    cells = [replace(cell, dtype="bfloat16") for cell in CELLS]
    stand = open_stand(TorchBench("cpu"), stage(dtype="bfloat16", weight_bits=bits), [narrow], cells, seed=0)
    assert stand.pool(cells[0], narrow).scales == scales


def test_a_kv_dtype_that_is_not_the_models_is_refused() -> None:
    with pytest.raises(
        Refused, match="float8_e4m3fn KV cache beside a float32 model cannot be measured; .* set engine.kv_cache_dtype=auto"
    ):
        open_stand(TorchBench("cpu"), stage(), [replace(P1, kv_dtype="float8_e4m3fn")], CELLS, seed=0)


def test_a_driver_is_a_module_and_a_class() -> None:
    stand = stood()
    assert stand.open_driver(arm("backends.torch_sdpa:TorchSdpa")).imports == ("torch",)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        stand.open_driver(arm("nowhere:Nothing"))
