"""What vLLM printed, understood (logs in tests/tuner/verifying/logs, in the forms of 0.33.0)."""

from __future__ import annotations

import pytest

from store.serving.verified import DECODE, KV_DTYPE, PAGE_SIZE, PREFILL, Found, Start
from tests.tuner.verifying.pinned import log, starts
from tuner.engines.vllm.running import NO_CHOICE, NOT_IN_INFO, start_of


def one(text: str) -> Start:
    (start,) = starts(text, "vllm")
    return start


def found(start: Start) -> dict[str, Found]:
    return dict(start.settings)


def test_an_automatic_choice_is_read_with_its_version_of_flashattention() -> None:
    start = one(log("vllm-0.33.0-flash-attn"))
    assert found(start)[PREFILL].value == found(start)[DECODE].value == "FLASH_ATTN"
    assert "vLLM chose it by itself" in found(start)[DECODE].why
    assert found(start)[PAGE_SIZE].value == "16" and KV_DTYPE not in found(start)
    assert start.notes == ("FlashAttention runs version 3",) and start.version == "0.33.0" and start.ready


def test_a_named_backend_is_read_with_the_path_behind_its_name() -> None:
    start = one(log("vllm-0.33.0-flashinfer-xqa"))
    assert (found(start)[DECODE].value, found(start)[DECODE].why) == ("FLASHINFER", "a flag named it")
    assert found(start)[PAGE_SIZE].value == "64" and found(start)[KV_DTYPE].value == "bfloat16"
    assert start.notes == ("FlashInfer decodes through xqa",)
    assert start.graphs.on and start.graphs.why == "cudagraph_mode=FULL_AND_PIECEWISE, vLLM changed the mode by itself"
    assert start.graphs.said is not None and "is not supported with FlashInferBackend" in start.graphs.said.text


def test_enforce_eager_replays_nothing() -> None:
    graphs = one(log("vllm-0.33.0-eager")).graphs
    assert graphs.on is False and graphs.why == "--enforce-eager is set" and graphs.said is not None


def test_a_block_size_that_costs_a_backend_is_the_cause() -> None:
    start = one(log("vllm-0.33.0-precluded"))
    decode = found(start)[DECODE]
    assert decode.value == "TRITON_ATTN" and decode.why.startswith("--block-size kept vLLM")
    assert decode.said is not None and "precluded higher-priority" in decode.said.text and found(start)[PAGE_SIZE].value == "24"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Using TRITON_ATTN backend (selected via --attention-backend).", "TRITON_ATTN"),
        ("Using ROCM_ATTN backend out of potential backends: ['ROCM_ATTN', 'TRITON_ATTN'].", "ROCM_ATTN"),
        (
            "Found incompatible backend(s) [ROCM_ATTN] with decoder. Overriding with TRITON_ATTN out of potential backends: [].",
            "TRITON_ATTN",
        ),
        ("Using Flash Attention backend on V1 engine.", "FLASH_ATTN"),
        ("Using backend AttentionBackendEnum.TORCH_SDPA for vit attention", None),
        ("Using FLASHINFER MLA prefill backend.", None),
        ("Using TRITON Fp8 MoE backend out of potential backends: ['TRITON'].", None),
    ],
)
def test_only_a_line_about_the_models_attention_names_its_backend(line: str, name: str | None) -> None:
    assert [found(start)[DECODE].value for start in starts(line, "vllm") if start.settings] == ([name] if name else [])


def test_kinds_of_layers_with_backends_of_their_own_are_all_named() -> None:
    line = "Using TRITON_ATTN attention backend out of potential backends: ['TRITON_ATTN']."
    start = one(f"{log('vllm-0.33.0-flash-attn')}(EngineCore_DP0 pid=140) INFO 11-30 08:00:25 [cuda.py:508] {line}\n")
    assert found(start)[DECODE].value == "FLASH_ATTN, TRITON_ATTN" and "several lines name a backend" in start.notes[-1]


def test_without_the_line_that_names_it_the_choice_is_missed() -> None:
    later = "\n".join(line for line in log("vllm-0.33.0-flash-attn").splitlines() if "attention backend" not in line)
    assert one(later).missing == (NO_CHOICE,)


def test_the_modes_that_leave_attention_outside_graphs_count_as_eager() -> None:
    piecewise = log("vllm-0.33.0-flash-attn").replace("FULL_AND_PIECEWISE", "PIECEWISE")
    assert one(piecewise).graphs.on is False
    full = one(log("vllm-0.33.0-flash-attn")).graphs
    assert full.on and full.sizes == (1, 2, 4, 8, 16, 24, 32)


def test_server_info_says_what_was_asked_for_alone() -> None:
    config = {"attention_config": {"backend": "FLASHINFER"}, "cache_config": {"block_size": 64}, "model_config": {"enforce_eager": True}}
    asked = start_of({"vllm_config": config}, "/server_info")
    assert asked is not None and found(asked)[DECODE].value == "FLASHINFER" and asked.graphs.on is False and not asked.missing
    for other in ({"attention_config": {"backend": None}}, "model='x', enforce_eager=False"):
        automatic = start_of({"vllm_config": other}, "/server_info")
        assert automatic is not None and automatic.missing == (NOT_IN_INFO,)
