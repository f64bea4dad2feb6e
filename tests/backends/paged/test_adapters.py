"""The adapters' own work (tables, schedules, padding, layouts, order of writes) over imitated kernels; the real ones run on a GPU."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from backends import adapter, fa3_paged, fa4_paged, flashinfer_latent, flashmla_paged, xqa_paged
from backends.arm import Arm, Provider
from backends.cell import Cell
from backends.checks.checker import Checker
from backends.driver import CellData, MissingPackage, PreparedCall, Refused, Stage
from backends.kv.inputs import lay_out
from backends.kv.layout import pages_needed, request_pages
from backends.kv.pool import build_pool
from backends.kv.rotation import PoolPlan
from backends.latent import attended
from backends.model import LayerKind
from backends.padded_batch import padded_batch
from backends.paged.calls import Server
from backends.paged.combined import combine
from backends.paged.step import decode_step
from tests.backends.paged.imitation import MODULES
from tests.backends.small import LAYER, WINDOWED, decode, model, prefill

CONTEXT_LENGTH = 640
LATENT = LayerKind("latent", layers=2, query_heads=4, kv_heads=1, head_dim=288, value_head_dim=256)
FA3 = "backends.fa3_paged:FlashAttention3"


@dataclass(frozen=True)
class Case:
    name: str
    driver: Any
    layer: LayerKind = LAYER
    page_size: int = 1
    knobs: tuple[tuple[str, str], ...] = ()
    prefills: bool = True

    def __str__(self) -> str:
        return "-".join((self.name, self.layer.name, f"p{self.page_size}", *(value for _, value in self.knobs)))


def cases() -> Iterator[Case]:
    for library in fa3_paged.LIBRARIES:
        yield Case("fa3", fa3_paged.FlashAttention3, page_size=16, knobs=(("library", library),))
    yield Case("fa3", fa3_paged.FlashAttention3)
    yield Case("fa3", fa3_paged.FlashAttention3, WINDOWED, 4)
    yield Case("fa3", fa3_paged.FlashAttention3, knobs=(("page_table", "batch"),))
    yield Case("fa3", fa3_paged.FlashAttention3, LATENT, prefills=False)
    yield Case("fa4", fa4_paged.FlashAttention4, page_size=16)
    yield Case("fa4", fa4_paged.FlashAttention4, WINDOWED)
    yield Case("xqa", xqa_paged.Xqa, page_size=16, prefills=False)
    yield Case("xqa", xqa_paged.Xqa, WINDOWED, 32, prefills=False)
    yield Case("flashmla", flashmla_paged.FlashMla, LATENT, 64, prefills=False)
    yield Case("flashinfer", flashinfer_latent.FlashInferLatent, LATENT, 4, prefills=False)


@pytest.fixture(autouse=True)
def imitated(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fa3_paged, fa4_paged, xqa_paged, flashmla_paged, flashinfer_latent):
        monkeypatch.setattr(module, "kernel_library", lambda name, _: MODULES[name])
        monkeypatch.setattr(module, "require_gpu", lambda arm, stage: None)
    monkeypatch.setattr(xqa_paged, "WORKSPACE_BYTES", 16)
    monkeypatch.setattr(flashinfer_latent, "WORKSPACE_BYTES", 16)


def laid_out(cell: Cell, page_size: int, joined: bool = False) -> CellData:
    tokens = (pages_needed(cell, page_size) + 3) * page_size
    pool = build_pool(PoolPlan(page_size, cell.dtype, tokens, 2), cell.layer, torch.device("cpu"), seed=3)
    return lay_out(cell, combine(pool) if joined else pool, CONTEXT_LENGTH)


def prepared(case: Case, data: CellData, **stage: Any) -> PreparedCall:
    arm = Arm(case.name, Provider.KERNEL, "", case.page_size, "float32", (), case.knobs)
    sizes = {"max_batch": 8, "max_new_tokens": 256, **stage}
    made = Stage(torch.device("cpu"), model(case.layer), 1, CONTEXT_LENGTH, 2048, **sizes)
    call: PreparedCall = case.driver(arm, made, data.pool).prepare(data)
    return call


def shot(call: PreparedCall) -> torch.Tensor:
    call.plan()
    return call.launch(1)


def judge(data: CellData, call: PreparedCall) -> None:
    checker = Checker(data, 1, None)
    checker.check(lambda: shot(call), [1])
    checker.check_needles(lambda: shot(call))


@pytest.mark.parametrize("padded", [4, 7])
@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_decode_is_right_eagerly_and_on_the_padded_batch_it_records(case: Case, padded: int) -> None:
    data = laid_out(replace(decode(30, 200, 17, 90, generated=4, layer=case.layer), padded_batch=padded), case.page_size)
    call = prepared(case, data)
    judge(data, call)
    for _ in range(2):  # a second recording reads the same buffers
        with call.capturing():
            assert call.launch(0).shape[0] == padded
        judge(data, call)
    assert call.graph and call.resolved


@pytest.mark.parametrize("cell", [prefill((0, 50)), prefill((40, 20), (0, 9)), prefill((33, 1), (7, 70))], ids=["fresh", "mixed", "prefix"])
@pytest.mark.parametrize("case", [case for case in cases() if case.prefills], ids=str)
def test_prefill_is_right_fresh_and_on_a_prefix(case: Case, cell: Cell) -> None:
    data = laid_out(replace(cell, layer=case.layer), case.page_size)
    judge(data, prepared(case, data))


@pytest.mark.parametrize("case", [case for case in cases() if case.page_size > 1 and not case.layer.latent], ids=str)
def test_a_pool_with_k_and_v_side_by_side_is_read_and_written_as_it_lies(case: Case) -> None:
    data = laid_out(decode(30, 200, 17, layer=case.layer), case.page_size, joined=True)
    judge(data, prepared(case, data))


def test_only_k_and_v_of_one_width_can_lie_side_by_side() -> None:
    pool = laid_out(decode(9), 1).pool
    before = [layer.clone() for layer in (*pool.k, *pool.v)]
    made = combine(pool)
    assert all(torch.equal(layer, was) for layer, was in zip((*made.k, *made.v), before))
    assert made.v[0].data_ptr() - made.k[0].data_ptr() == made.k[0][0].numel() * 4
    with pytest.raises(ValueError, match="different widths"):
        combine(laid_out(decode(9, layer=LATENT), 1).pool)


@given(st.lists(st.integers(1, 150), min_size=1, max_size=6), st.sampled_from([1, 4, 16, 64]), st.integers(0, 2))
@settings(max_examples=30, deadline=None)
def test_a_table_lists_the_pages_that_each_request_holds_and_padding_holds_the_first(contexts: list[int], size: int, padding: int) -> None:
    cell = replace(decode(*contexts), padded_batch=len(contexts) + padding)
    data = laid_out(cell, size)
    step = decode_step(data, padded_batch(data), CONTEXT_LENGTH, CONTEXT_LENGTH, recorded=True)
    held = request_pages(cell, size, data.pool.pool_tokens // size)
    listed = [row[: -(-length // size)].tolist() for row, length in zip(step.table, step.lengths.tolist())]
    assert listed == [*held, *[[0]] * padding] and step.table.shape[1] * size >= CONTEXT_LENGTH
    assert step.lengths.tolist() == step.seq_lens.tolist() == [*contexts, *[1] * padding]


def table_width(case: Case, recorded: bool) -> int:
    call: Any = prepared(case, laid_out(decode(30, 200), case.page_size))
    if recorded:
        with call.capturing():
            pass
    return int(call._step.table.shape[1]) * case.page_size


def test_a_recorded_table_has_room_for_a_context_and_an_eager_one_what_the_engine_gives_it() -> None:
    fa3, xqa = Case("fa3", fa3_paged.FlashAttention3), Case("xqa", xqa_paged.Xqa, page_size=16)
    assert (table_width(fa3, recorded=False), table_width(fa3, recorded=True)) == (200, CONTEXT_LENGTH)
    assert (table_width(xqa, recorded=False), table_width(xqa, recorded=True)) == (CONTEXT_LENGTH, CONTEXT_LENGTH)
    assert table_width(replace(fa3, knobs=(("page_table", "batch"),)), recorded=True) == 200
    assert table_width(replace(fa3, knobs=(("page_table", "context"),)), recorded=False) == CONTEXT_LENGTH


@pytest.mark.parametrize(("limit", "graph"), [(None, True), (4, True), (3, False)])
def test_a_batch_above_the_captured_sizes_is_served_eagerly(limit: int | None, graph: bool) -> None:
    data = laid_out(replace(decode(30, 20, 9), padded_batch=4), 1)
    assert prepared(Case("fa3", fa3_paged.FlashAttention3), data, graph_max_batch=limit).graph is graph


def test_a_recorded_latent_decode_of_flashinfer_plans_once_wholly_and_then_on_the_host() -> None:
    case = Case("flashinfer", flashinfer_latent.FlashInferLatent, LATENT, 4)
    call: Any = prepared(case, laid_out(decode(30, 20, layer=LATENT), 4))
    with call.capturing():
        assert call._kernel._wrapper.plans == ["whole"]
    call.plan()
    assert call._kernel._wrapper.plans == ["whole", "fast"]


DEEPSEEK = replace(LATENT, head_dim=576, value_head_dim=512)
LATENT_PREFILL = replace(prefill((0, 9)), layer=attended(DEEPSEEK, "DeepseekV3ForCausalLM", generates=False))
VERIFY = replace(prefill((30, 2)), draft=(-1, 0))


@pytest.mark.parametrize(
    ("case", "cell", "said"),
    [
        (Case("fa3", fa3_paged.FlashAttention3), LATENT_PREFILL, "the model's work"),
        (Case("flashinfer", flashinfer_latent.FlashInferLatent), LATENT_PREFILL, "the model's work"),
        (Case("flashmla", flashmla_paged.FlashMla, page_size=64), LATENT_PREFILL, "decodes alone"),
        (Case("xqa", xqa_paged.Xqa, page_size=16), prefill((0, 9)), "decodes alone"),
        (Case("fa3", fa3_paged.FlashAttention3), VERIFY, "a verify step is driven through the engine"),
        (
            Case("fa3", fa3_paged.FlashAttention3, knobs=(("library", "flash_attn_interface"),)),
            decode(9, layer=replace(LAYER, sinks=True)),
            "takes no attention sinks",
        ),
    ],
    ids=["fa3", "flashinfer", "flashmla", "xqa", "verify", "sinks"],
)
def test_what_an_adapter_does_not_issue_is_refused_in_words(case: Case, cell: Cell, said: str) -> None:
    with pytest.raises(Refused, match=said):
        prepared(case, laid_out(cell, case.page_size))


def test_an_unknown_knob_and_a_processor_are_refused_and_a_broken_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = Arm("fa3", Provider.KERNEL, FA3, 1, "float32", (), (("library", "mine"),))
    with pytest.raises(Refused, match="no knob library=mine; it has page_table: context, batch; library: sgl_kernel"):
        adapter.refuse_knobs(arm, fa3_paged.FA3_KNOBS)
    with pytest.raises(Refused, match="this device is a cpu"):
        adapter.require_gpu(arm, Stage(torch.device("cpu"), model(), 1, 64, 64, 1, 1))

    def broken(name: str) -> None:
        raise OSError("libtorch_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi")

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(MissingPackage, match="module sgl_kernel.flash_attn cannot be imported .*undefined symbol.*install sglang-kernel"):
        adapter.kernel_library("sgl_kernel.flash_attn", "sglang-kernel")


def test_metadata_of_a_recorded_step_stays_where_its_first_was() -> None:
    data = laid_out(decode(30, 9), 1)
    for recorded in (False, True):
        step = decode_step(data, padded_batch(data), 30, 30, recorded)
        step.keep(torch.tensor([1]), torch.tensor([2, 3]))
        first = step.metadata
        step.keep(torch.tensor([4]), torch.tensor([5, 6]))
        assert [made.tolist() for made in step.metadata] == [[4], [5, 6]] and (step.metadata[0] is first[0]) is recorded
    with pytest.raises(RuntimeError, match="size"):
        step.keep(torch.tensor([1]), torch.tensor([1, 2, 3]))


def test_attention_is_not_split_where_the_package_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    data = laid_out(decode(30), 16)
    case = Case("fa4", fa4_paged.FlashAttention4, page_size=16)
    assert "one split" not in prepared(case, data).resolved and prepared(case, data, deterministic=True).resolved.endswith(",one split")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0) if device.index == 0 else (10, 0))
    assert [fa4_paged._can_split(torch.device(name)) for name in ("cuda:0", "cuda:1", "cpu")] == [False, True, True]


def test_a_table_is_as_wide_as_it_is_asked_to_be() -> None:
    assert Server(100).table_tokens(7, recorded=True) == 100 and Server(100).table_tokens(7, recorded=False) == 7
    assert Server(100, wide_eagerly=True).table_tokens(7, recorded=False) == 100
