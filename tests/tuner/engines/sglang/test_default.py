"""Rows of what SGLang's own resolver answered under simulated GPUs (0.5.22), as far as its tree and page rules decide them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.gpu import Gpu
from backends.model import LayerKind, Model
from store.runs.run import DefaultPick
from store.scenario import Speculation
from tests.asking import entries, gpu
from tests.tuner.scenarios import A100, B200, CPU, CPU_AMX, DSV3, GEMMA3, GPT_OSS, H100, L40S, LLAMA, MAC, MI300, MIMO, RTX5090, scenario
from tuner.engines.sglang.caveats import caveats
from tuner.engines.sglang.pick import default_pick

ALL = tuple(entries().values())
WITHOUT_FLASHINFER = {"sglang": "sglang", "triton": "triton", "sgl_kernel": "sglang-kernel"}
EAGLE = Speculation("EAGLE")


def pick(board: Gpu, asked: Model = LLAMA, packages: dict[str, str] | None = None, rules: str = "0.5.22", **flags: Any) -> DefaultPick:
    return default_pick(scenario(board, asked, **flags), ALL, rules, packages)


def answer(*arguments: Any, **flags: Any) -> tuple[str, str, int]:
    found = pick(*arguments, **flags)
    return found.prefill, found.decode, found.page_size


OBSERVED: list[tuple[Gpu, Model, dict[str, Any], str, int]] = [
    (H100, LLAMA, {}, "fa3", 1),
    (H100, LLAMA, {"packages": WITHOUT_FLASHINFER}, "fa3", 1),
    (H100, LLAMA, {"page_size": 64}, "fa3", 64),
    (H100, LLAMA, {"speculation": EAGLE}, "fa3", 1),
    (H100, LLAMA, {"speculation": Speculation("EAGLE", topk=4)}, "flashinfer", 1),
    (H100, LLAMA, {"speculation": Speculation("EAGLE", topk=1), "page_size": 64}, "flashinfer", 64),
    (H100, LLAMA, {"speculation": Speculation("NGRAM")}, "fa3", 1),
    (H100, LLAMA, {"kv_cache_dtype": "fp8_e5m2"}, "triton", 1),
    (H100, LLAMA, {"attention_backend": "fa3", "kv_cache_dtype": "fp8_e4m3"}, "fa3", 1),
    (H100, LLAMA, {"attention_backend": "trtllm_mha"}, "trtllm_mha", 64),
    (H100, LLAMA, {"attention_backend": "trtllm_mha", "page_size": 1}, "trtllm_mha", 64),
    (H100, LLAMA, {"attention_backend": "trtllm_mha", "page_size": 256}, "trtllm_mha", 64),
    (H100, LLAMA, {"attention_backend": "hpc_ops"}, "hpc_ops", 64),
    (H100, LLAMA, {"attention_backend": "fa4"}, "fa4", 1),
    (H100, LLAMA, {"attention_backend": "fa4", "kv_cache_dtype": "fp8_e4m3"}, "fa4", 1),
    (H100, DSV3, {}, "fa3", 1),
    (H100, DSV3, {"attention_backend": "flashmla"}, "flashmla", 64),
    (H100, GPT_OSS, {}, "fa3", 1),
    (H100, GEMMA3, {}, "fa3", 1),
    (H100, LLAMA, {"attention_backend": "flashinfer", "features": ("deterministic",)}, "flashinfer", 1),
    (A100, LLAMA, {}, "flashinfer", 1),
    (A100, DSV3, {}, "triton", 1),
    (A100, GPT_OSS, {}, "triton", 1),
    (A100, GEMMA3, {}, "flashinfer", 1),
    (A100, LLAMA, {"features": ("deterministic",)}, "fa3", 1),
    (L40S, LLAMA, {"kv_cache_dtype": "fp8_e4m3"}, "flashinfer", 1),
    (B200, LLAMA, {}, "trtllm_mha", 64),
    (B200, LLAMA, {"attention_backend": "fa4"}, "fa4", 128),
    (B200, LLAMA, {"attention_backend": "fa4", "page_size": 1}, "fa4", 128),
    (B200, LLAMA, {"speculation": Speculation("NGRAM")}, "flashinfer", 1),
    (B200, GPT_OSS, {}, "trtllm_mha", 64),
    (RTX5090, LLAMA, {}, "flashinfer", 1),
    (RTX5090, GPT_OSS, {}, "triton", 1),
    (RTX5090, LLAMA, {"features": ("deterministic",)}, "flashinfer", 1),
    (MI300, LLAMA, {}, "aiter", 1),
    (MI300, DSV3, {}, "aiter", 1),
]


@pytest.mark.parametrize(("board", "asked", "flags", "backend", "page_size"), OBSERVED)
def test_the_default_is_what_the_engine_answered(board: Gpu, asked: Model, flags: dict[str, Any], backend: str, page_size: int) -> None:
    assert answer(board, asked, **flags) == (backend, backend, page_size)


PAIRS: list[tuple[Gpu, Model, dict[str, Any], tuple[str, str, int]]] = [
    (H100, LLAMA, {"decode_attention_backend": "trtllm_mha"}, ("fa3", "trtllm_mha", 64)),
    (H100, LLAMA, {"prefill_attention_backend": "trtllm_mla", "decode_attention_backend": "fa3"}, ("trtllm_mla", "fa3", 1)),
    (H100, LLAMA, {"attention_backend": "triton", "decode_attention_backend": "fa3"}, ("triton", "fa3", 1)),
    (
        H100,
        LLAMA,
        {"attention_backend": "triton", "prefill_attention_backend": "fa3", "decode_attention_backend": "fa3"},
        ("fa3", "fa3", 1),
    ),
    (H100, DSV3, {"decode_attention_backend": "flashmla"}, ("fa3", "flashmla", 64)),
    (H100, DSV3, {"prefill_attention_backend": "flashmla", "decode_attention_backend": "fa3"}, ("flashmla", "fa3", 1)),
    (H100, LLAMA, {"decode_attention_backend": "torch_native"}, ("fa3", "torch_native", 1)),
    (B200, DSV3, {"decode_attention_backend": "cutedsl_mla"}, ("trtllm_mla", "cutedsl_mla", 64)),
    (H100, LLAMA, {"decode_attention_backend": "fa3", "kv_cache_dtype": "fp8_e5m2"}, ("triton", "fa3", 1)),
]


@pytest.mark.parametrize(("board", "asked", "flags", "expected"), PAIRS)
def test_split_flags_leave_the_other_side_to_the_base(
    board: Gpu, asked: Model, flags: dict[str, Any], expected: tuple[str, str, int]
) -> None:
    assert answer(board, asked, **flags) == expected


def test_each_board_has_its_default_for_a_plain_model() -> None:
    boards = (gpu(90), gpu(90, cuda="12.2"), B200, MI300, MAC, L40S, RTX5090)
    backends = ("fa3", "flashinfer", "trtllm_mha", "aiter", "torch_native", "flashinfer", "flashinfer")
    assert tuple(pick(board).decode for board in boards) == backends
    assert pick(L40S, packages=WITHOUT_FLASHINFER).decode == "triton"


@pytest.mark.parametrize(("ranks", "backend"), [(1, "aiter"), (8, "aiter"), (4, "triton")])
def test_rocm_takes_aiter_for_mla_only_at_the_head_counts_it_has(ranks: int, backend: str) -> None:
    assert pick(MI300, DSV3, tensor_parallel=ranks).decode == backend


def test_unequal_widths_change_the_blackwell_default_in_the_newer_version_only() -> None:
    assert answer(B200, MIMO) == ("fa4", "fa4", 128)
    assert answer(B200, MIMO, rules="0.5.16") == ("trtllm_mha", "trtllm_mha", 64)


def test_page_size_128_is_kept_for_trtllm_mha_by_the_newer_rules_only() -> None:
    assert answer(B200, LLAMA, page_size=128)[2] == 128
    assert answer(B200, LLAMA, page_size=128, rules="0.5.16")[2] == 64


def test_unequal_widths_of_one_layer_kind_suffice() -> None:
    layers = (LLAMA.layers[0], LayerKind("window", 10, 32, 8, 192, 128, 128))
    assert pick(B200, replace(LLAMA, layers=layers)).decode == "fa4"


@pytest.mark.parametrize(("board", "backend"), [(CPU, "torch_native"), (CPU_AMX, "intel_amx")])
def test_a_cpu_serves_with_amx_or_with_torch(board: Gpu, backend: str) -> None:
    assert pick(board).decode == backend


def test_a_cpu_keeps_the_backend_a_user_chose() -> None:
    assert pick(CPU, attention_backend="triton").decode == "triton"


def test_whisper_is_asked_before_anything_else() -> None:
    assert pick(H100, replace(LLAMA, architecture="WhisperForConditionalGeneration")).decode == "flashinfer"


def test_the_path_through_the_tree_is_told() -> None:
    assert pick(H100).because == "MHA model; Hopper with CUDA 12.3 or newer; topk unset (or 1 at page size 1) -> fa3 (SGLang 0.5.22)"
    assert "not Hopper" in pick(A100).because
    assert pick(A100).because.endswith("FlashInfer importable; no attention sinks -> flashinfer (SGLang 0.5.22)")
    assert pick(H100, attention_backend="triton").because == "engine.attention_backend is set to triton (SGLang 0.5.22)"
    assert pick(H100, decode_attention_backend="triton").because.endswith("; engine.decode_attention_backend is triton")


def test_an_alias_is_shown_as_the_backend_it_stands_for() -> None:
    assert pick(H100, DSV3, attention_backend="nsa").decode == "dsa"


def test_auto_becomes_the_dtype_the_pool_will_have() -> None:
    declared = replace(LLAMA, declared_kv_dtype="float8_e4m3fn")
    assert [pick(H100, asked).kv_cache_dtype for asked in (LLAMA, declared)] == ["bfloat16", "float8_e4m3fn"]
    assert pick(H100, declared, kv_cache_dtype="bf16").kv_cache_dtype == "bfloat16"


def test_two_spellings_of_one_draft_that_differ_in_the_default_are_pointed_out() -> None:
    """SGLang issue 36554: topk left out and the same topk written out pick different backends."""
    (note,) = caveats(scenario(H100, LLAMA, speculation=EAGLE), ALL, "0.5.22", None)
    assert "fa3" in note and "flashinfer" in note
    assert not caveats(scenario(H100, LLAMA, speculation=Speculation("EAGLE", topk=4)), ALL, "0.5.22", None)


def test_a_model_whose_default_sglang_replaces_gets_that_one() -> None:
    assert answer(B200, DSV3) == ("trtllm_mla", "trtllm_mla", 64)
    assert "no backend chosen -> trtllm_mla" in pick(B200, DSV3).because
    assert caveats(scenario(B200, DSV3), ALL, "0.5.22", None) == ()


def test_what_the_engine_would_do_without_the_users_choice_is_said() -> None:
    (note,) = caveats(scenario(H100, LLAMA, attention_backend="triton"), ALL, "0.5.22", None)
    assert note == "engine.attention_backend=triton is your choice and is kept; by itself SGLang would run fa3"
    (note,) = caveats(scenario(H100, LLAMA, decode_attention_backend="triton"), ALL, "0.5.22", None)
    assert note.endswith("by itself SGLang would run fa3") and note.startswith("engine.decode_attention_backend=triton is your choice")
    assert not caveats(scenario(H100, LLAMA, attention_backend="fa3"), ALL, "0.5.22", None)
