"""The calls' own work (tables, padding, order of writes, which plan when) over imitated kernels; the real ones run on a GPU."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from backends.cell import Cell
from backends.checks.checker import Checker
from backends.driver import Refused
from backends.flashinfer_calls import extend
from backends.flashinfer_calls.decode import DecodeCall
from backends.flashinfer_calls.extend import ExtendCall
from backends.flashinfer_calls.tables import starts, token_slots
from backends.flashinfer_paged import Library
from backends.model import LayerKind
from tests.backends.flashinfer_calls import imitation
from tests.backends.small import CONTEXT_LENGTH, LAYER, decode, laid_out, prefill

LIBRARY = Library(imitation.module, torch.empty(0), torch.float32, torch.float32, CONTEXT_LENGTH)


@pytest.fixture(autouse=True)
def on_hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))


def shot(call: DecodeCall | ExtendCall) -> torch.Tensor:
    call.plan()
    return call.launch(1)


def test_tables_list_every_requests_slots_one_after_the_other() -> None:
    table = torch.arange(12, dtype=torch.int32).view(3, 4)
    lengths = torch.tensor([3, 0, 2])
    assert starts(lengths).tolist() == [0, 3, 3, 5] and starts(lengths).dtype == torch.int32
    slots = token_slots(table, torch.tensor([2, 1, 0]), lengths, 5)
    assert slots.tolist() == [8, 9, 10, 0, 1] and slots.dtype == torch.int32


@pytest.mark.parametrize("page_size", [1, 16])
@pytest.mark.parametrize("padded", [4, 7])
def test_decode_is_right_eagerly_and_on_the_padded_batch_it_records(padded: int, page_size: int) -> None:
    data = laid_out(replace(decode(30, 200, 17, 90, generated=4), padded_batch=padded), page_size)
    call = DecodeCall(LIBRARY, data)
    checker = Checker(data, 1, None)
    checker.check(lambda: shot(call), [1])
    with call.capturing():
        call.launch(0)
    assert shot(call).shape[0] == padded
    checker.check(lambda: shot(call), [1])
    checker.check_needles(lambda: shot(call))
    with call.capturing():
        call.launch(0)
    checker.check_needles(lambda: shot(call))


@pytest.mark.parametrize(("limit", "graph"), [(None, True), (4, True), (3, False)])
def test_a_batch_above_the_captured_sizes_is_served_eagerly(limit: int | None, graph: bool) -> None:
    data = laid_out(replace(decode(30, 20, 9), padded_batch=4))
    assert DecodeCall(replace(LIBRARY, graph_max_batch=limit), data).graph is graph


def test_capture_plans_once_plainly_and_steps_take_the_fast_plan() -> None:
    call = DecodeCall(LIBRARY, laid_out(decode(30, 20)))
    with call.capturing():
        assert call._wrapper.plans == ["plan"]
        assert call._wrapper.planned.tolist() == [0, 1, 2]
    call.plan()
    assert call._wrapper.plans == ["plan", "fast"]
    assert call._wrapper.planned.tolist() == [0, 30, 50]


def test_without_a_fast_plan_every_step_takes_the_plain_one() -> None:
    old = replace(LIBRARY, module=imitation.SimpleNamespace(**{**vars(imitation.module), "decode": imitation.SimpleNamespace()}))
    data = laid_out(decode(30, 20))
    call = DecodeCall(old, data)
    with call.capturing():
        pass
    Checker(data, 1, None).check(lambda: shot(call), [1])
    assert set(call._wrapper.plans) == {"plan"}


@pytest.mark.parametrize("cell", [prefill((0, 50)), prefill((40, 20), (0, 9)), prefill((33, 1), (7, 70))], ids=["fresh", "mixed", "prefix"])
def test_prefill_is_right_fresh_and_merged_with_a_prefix(cell: Cell) -> None:
    data = laid_out(cell, page_size=4)
    call = ExtendCall(LIBRARY, data)
    checker = Checker(data, 1, None)
    checker.check(lambda: shot(call), [1])
    checker.check_needles(lambda: shot(call))


def test_the_inner_path_is_named() -> None:
    fresh, merged = (ExtendCall(LIBRARY, laid_out(cell)) for cell in (prefill((0, 5)), prefill((4, 5))))
    assert (fresh.resolved, merged.resolved) == ("ragged fa3", "ragged fa3 + paged fa2")
    assert DecodeCall(LIBRARY, laid_out(decode(5))).resolved == "fa2,tensor cores"


@pytest.mark.parametrize(("query_heads", "kv_heads", "tensor_cores"), [(8, 2, True), (4, 2, False), (32, 8, True)])
def test_decode_goes_through_tensor_cores_from_four_query_heads_a_kv_head(query_heads: int, kv_heads: int, tensor_cores: bool) -> None:
    assert LIBRARY.tensor_cores(replace(LAYER, query_heads=query_heads, kv_heads=kv_heads)) is tensor_cores


def test_the_engines_own_switch_decides_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_FLASHINFER_USE_TENSOR_CORE", "false")
    assert LIBRARY.tensor_cores(LAYER) is False


def test_more_heads_than_the_merge_kernel_has_threads_for_are_refused() -> None:
    wide = LayerKind("wide", 1, query_heads=128, kv_heads=8, head_dim=64, value_head_dim=64)
    with pytest.raises(Refused, match="cannot merge 128 heads"):
        ExtendCall(LIBRARY, laid_out(prefill((4, 5), layer=wide)))
    assert extend.MERGE_THREADS == 1024
