from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.gpu import Gpu
from backends.model import LayerKind, Model
from store.decision import Pair
from tests.asking import gpu, model
from tests.tuner.engines.vllm.served import entries, on_vllm, picked, settled
from tests.tuner.scenarios import A100, B200, CPU, CPU_AMX, DSV3, GPT_OSS, H100, L40S, LLAMA, MI300, MIMO, RTX5090, engine
from tuner.engines.vllm import verbs
from tuner.engines.vllm.pick import chosen
from tuner.errors import UsageError

GEMMA3 = model(
    LayerKind("full", 5, 16, 8, 256, 256), LayerKind("window", 29, 16, 8, 256, 256, 1024), architecture="Gemma3ForConditionalGeneration"
)
DSV32 = replace(DSV3, architecture="DeepseekV32ForCausalLM")
EIGHT = {"tensor_parallel": 8}
CASES: list[tuple[Gpu, Model, dict[str, Any], tuple[str, int]]] = [
    (H100, LLAMA, {}, ("FLASH_ATTN", 16)),
    (A100, LLAMA, {}, ("FLASH_ATTN", 16)),
    (B200, LLAMA, {}, ("FLASHINFER", 16)),
    (RTX5090, LLAMA, {}, ("FLASH_ATTN", 16)),
    (gpu(75), LLAMA, {}, ("TRITON_ATTN", 16)),
    # FP8 KV: FA3 on Hopper; FA2 has none
    (H100, LLAMA, {"kv_cache_dtype": "fp8"}, ("FLASH_ATTN", 16)),
    (A100, LLAMA, {"kv_cache_dtype": "fp8"}, ("FLASHINFER", 16)),
    (H100, LLAMA, {"kv_cache_dtype": "fp8_e5m2"}, ("FLASHINFER", 16)),
    (H100, LLAMA, {"kv_cache_dtype": "int8_per_token_head"}, ("TRITON_ATTN", 16)),
    (H100, LLAMA, {"kv_cache_dtype": "turboquant_k8v4"}, ("TURBOQUANT", 16)),
    # sinks: FA3 has them, FA2 and FlashInfer's FA2 do not
    (H100, GPT_OSS, {}, ("FLASH_ATTN", 16)),
    (A100, GPT_OSS, {}, ("TRITON_ATTN", 16)),
    (L40S, GPT_OSS, {}, ("TRITON_ATTN", 16)),
    (B200, GPT_OSS, {}, ("FLASHINFER", 16)),
    (RTX5090, GPT_OSS, {}, ("FLASHINFER", 16)),
    (B200, GPT_OSS, {"features": ("deterministic",)}, ("TRITON_ATTN", 16)),
    # image tokens that see each other in both directions
    (H100, GEMMA3, {}, ("TRITON_FLASH_ATTN", 16)),
    (B200, GEMMA3, {}, ("TRITON_FLASHINFER", 64)),
    (A100, GEMMA3, {}, ("TRITON_ATTN", 16)),
    # latent attention
    (H100, DSV3, EIGHT, ("FLASH_ATTN_MLA", 16)),
    (H100, DSV3, {**EIGHT, "kv_cache_dtype": "fp8"}, ("FLASHMLA", 64)),
    (A100, DSV3, EIGHT, ("TRITON_MLA", 16)),
    (B200, DSV3, EIGHT, ("FLASHINFER_MLA", 32)),
    (RTX5090, DSV3, EIGHT, ("TRITON_MLA", 16)),
    # keys that the model's own index chooses
    (H100, DSV32, EIGHT, ("FLASH_ATTN_MLA_SPARSE", 64)),
    (B200, DSV32, EIGHT, ("FLASH_ATTN_MLA_SPARSE_FA4", 64)),
    (B200, DSV32, {"tensor_parallel": 4}, ("FLASHMLA_SPARSE", 64)),
    (B200, DSV32, {**EIGHT, "kv_cache_dtype": "fp8"}, ("FLASHINFER_MLA_SPARSE", 32)),
    (RTX5090, DSV32, EIGHT, ("FLASHINFER_MLA_SPARSE_SM120", 64)),
    # a V of another width than K: the model's own code decides
    (H100, MIMO, {}, ("FLASH_ATTN_DIFFKV", 16)),
    # other devices
    (MI300, LLAMA, {}, ("ROCM_ATTN", 16)),
    (MI300, GPT_OSS, {}, ("ROCM_AITER_UNIFIED_ATTN", 64)),
    (CPU, LLAMA, {}, ("CPU_ATTN", 128)),
    (CPU, DSV3, EIGHT, ("CPU_MLA", 16)),
    (CPU_AMX, DSV3, EIGHT, ("AMX_MLA", 128)),
]


@pytest.mark.parametrize(("board", "asked", "changes", "expected"), CASES)
def test_the_first_backend_of_the_order_that_takes_the_layers_is_picked(
    board: Gpu, asked: Model, changes: dict[str, Any], expected: tuple[str, int]
) -> None:
    if asked is MIMO:
        asked = replace(MIMO, architecture="MiMoV2FlashForCausalLM")
    assert picked(board, asked, **changes) == expected


def test_a_block_size_that_costs_a_better_backend_is_said() -> None:
    found = settled(B200, DSV3, page_size=16, **EIGHT)
    assert found.default.decode == "TRITON_MLA"
    assert [note for note in found.caveats if "engine.page_size=16 costs vLLM FLASHINFER_MLA and CUTLASS_MLA" in note]


@pytest.mark.parametrize(("backend", "page_size"), [("FLASHMLA", 128), ("FLASHMLA", 192), ("TRITON_ATTN", 48)])
def test_a_block_size_needs_to_be_a_multiple_alone(backend: str, page_size: int) -> None:
    asked = DSV3 if backend.endswith("MLA") else LLAMA
    assert picked(H100, asked, attention_backend=backend, page_size=page_size, **EIGHT) == (backend, page_size)


def test_a_name_whose_class_claims_more_than_its_kernels_do_is_refused() -> None:
    """FlashMLA names SM 10x, and is made for Hopper where keys are not indexed."""
    (refusal,) = settled(B200, DSV3, attention_backend="FLASHMLA", **EIGHT).refusals
    assert "FLASHMLA, your choice, serves" in refusal and "not sm 100" in refusal


def test_a_server_without_any_valid_backend_does_not_start_and_every_backend_is_accounted_for() -> None:
    (refusal,) = settled(H100, LLAMA, page_size=24).refusals
    for name in ("FLASH_ATTN", "FLASHINFER", "TRITON_ATTN", "FLEX_ATTENTION"):
        assert f"{name} takes block size multiples of 16, not block size 24" in refusal


def test_the_path_names_the_order_and_what_was_passed_over_with_its_source() -> None:
    order, *passed = settled(A100, GPT_OSS).path
    assert order.rule == "cuda.dense" and order.source == "vllm/platforms/cuda.py, _get_backend_priorities"
    assert [step.rule for step in passed] == ["validate.FLASH_ATTN", "validate.FLASHINFER"]
    assert all("attention sinks" in step.condition and "vllm/v1/attention/backends/" in step.source for step in passed)


def test_layers_of_a_model_may_go_to_different_backends_and_that_is_said() -> None:
    mixed = model(LayerKind("full", 8, 32, 8, 128, 128), LayerKind("odd", 4, 32, 8, 100, 100))
    found = settled(A100, mixed)
    assert found.default.decode == "FLASH_ATTN"
    assert [note for note in found.caveats if "the odd layers with TRITON_ATTN" in note]


def test_a_missing_package_takes_its_backends_out_of_the_list() -> None:
    found = settled(B200, LLAMA, packages={"vllm": "0.33.0"})
    assert found.default.decode == "FLASH_ATTN"
    assert "module flashinfer" in found.path[1].condition


def test_a_choice_that_a_cpu_ignores_is_said() -> None:
    found = settled(CPU, LLAMA, attention_backend="TRITON_ATTN")
    assert found.default.decode == "CPU_ATTN"
    assert [note for note in found.caveats if "does not ask engine.attention_backend=TRITON_ATTN" in note]


def test_an_order_that_needs_a_backend_which_was_left_out_says_which() -> None:
    few = tuple(entry for entry in entries() if entry.name != "FLASH_ATTN")
    with pytest.raises(UsageError, match="would try FLASH_ATTN here, which backend=.* leaves out; add vllm/flash_attn"):
        chosen(on_vllm(), few, "0.33.0")


def test_a_device_whose_order_nobody_read_is_refused() -> None:
    with pytest.raises(UsageError, match="not on sm None"):
        settled(gpu(None, kind="npu", cuda=None), LLAMA)


def test_a_pin_names_backend_and_block_size_where_they_are_not_the_defaults() -> None:
    default = settled(H100, LLAMA).default
    same, other = Pair("FLASH_ATTN", "FLASH_ATTN"), Pair("FLASHINFER", "FLASHINFER")
    assert verbs.pin_flags(same, default, 16, engine()) == ()
    assert verbs.pin_flags(other, default, 16, engine()) == (("attention-backend", "FLASHINFER"),)
    assert verbs.pin_flags(other, default, 64, engine()) == (("attention-backend", "FLASHINFER"), ("block-size", "64"))
    assert verbs.pin_flags(same, default, 16, engine(attention_backend="FLASH_ATTN")) == (("attention-backend", "FLASH_ATTN"),)
    with pytest.raises(ValueError, match="one backend"):
        verbs.pin_flags(Pair("FLASH_ATTN", "FLASHINFER"), default, 16, engine())


def test_latent_attention_prefills_in_its_own_way() -> None:
    assert "plain attention" in verbs.LATENT_PREFILLS and "SGLang" not in verbs.LATENT_PREFILLS


def test_no_tree_is_drawn_and_a_neighbouring_release_is_said() -> None:
    assert verbs.default_tree(on_vllm(), "0.33.0") is None
    assert verbs.rules_for("0.33.0") == ("0.33.0", None)
    assert verbs.rules_for("0.31.0") == ("0.33.0", "no rules of vLLM 0.31.0 are known; those of 0.33.0 were applied")
