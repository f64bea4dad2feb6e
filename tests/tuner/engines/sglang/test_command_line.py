"""A scenario as SGLang's command line. What SGLang makes of it is compared with the rules in tests/engine."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.scenario import Engine, Role, Scenario, Speculation
from tests.tuner.scenarios import MI300, scenario
from tuner.engines.sglang.command_line import command_line
from tuner.engines.sglang.request import request_for

# One value of each field that changes what SGLang serves with, and the options it becomes.
SPELLED: dict[str, tuple[Any, tuple[tuple[str, ...], ...]]] = {
    "tensor_parallel": (4, (("--tp-size", "4"),)),
    "attn_dp_size": (2, (("--attn-dp-size", "2"),)),
    "attn_cp_size": (2, (("--enable-prefill-cp", "--cp-strategy", "zigzag", "--attn-cp-size", "2"),)),
    "dcp_size": (2, (("--dcp-size", "2"),)),
    "role": (Role.DECODE, (("--disaggregation-mode", "decode"),)),
    "speculation": (
        Speculation("EAGLE", 4, 3, 8, "triton"),
        (
            ("--speculative-algorithm", "EAGLE"),
            ("--speculative-eagle-topk", "4"),
            ("--speculative-num-steps", "3"),
            ("--speculative-num-draft-tokens", "8"),
            ("--speculative-draft-attention-backend", "triton"),
            ("--speculative-draft-model-path", "./draft"),
        ),
    ),
    "kv_cache_dtype": ("fp8_e4m3", (("--kv-cache-dtype", "fp8_e4m3"),)),
    "page_size": (64, (("--page-size", "64"),)),
    "context_length": (4096, (("--context-length", "4096"),)),
    "features": (("deterministic", "multi_item_scoring"), (("--enable-deterministic-inference",), ("--enable-mis",))),
    "attention_backend": ("fa3", (("--attention-backend", "fa3"),)),
    "prefill_attention_backend": ("fa3", (("--prefill-attention-backend", "fa3"),)),
    "decode_attention_backend": ("triton", (("--decode-attention-backend", "triton"),)),
    "mem_fraction_static": (0.8, (("--mem-fraction-static", "0.8"),)),
    "pipeline_parallel": (2, (("--pp-size", "2"),)),
    "disable_cuda_graph": (True, (("--disable-cuda-graph",),)),
    "cuda_graph_max_bs": (64, (("--cuda-graph-max-bs-decode", "64"),)),
    "cuda_graph_bs": ((1, 8), (("--cuda-graph-bs-decode", "1", "8"),)),
    "hierarchical_cache": (True, (("--enable-hierarchical-cache",),)),
    "swa_full_tokens_ratio": (0.5, (("--swa-full-tokens-ratio", "0.5"),)),
    "disable_hybrid_swa_memory": (True, (("--disable-hybrid-swa-memory",),)),
    "mixed_chunk": (True, (("--enable-mixed-chunk",),)),
}
# Which engine, where it is, and what attnpin makes of the answer.
OURS = {"name", "version", "command", "path", "allow_serving_jit", "allow_fp8_kv", "allow_deviations"}
PLAIN = (("--model-path", "./model"), ("--device", "cuda"))


def options(asked: Scenario, rules: str = "0.5.22") -> tuple[tuple[str, ...], ...]:
    return command_line(asked, request_for(asked, rules))


def test_every_field_of_the_engine_is_spelled_or_is_no_business_of_sglangs() -> None:
    assert {field.name for field in fields(Engine)} == SPELLED.keys() | OURS


@pytest.mark.parametrize("field", SPELLED)
def test_a_field_becomes_its_options_and_no_others(field: str) -> None:
    value, expected = SPELLED[field]
    assert sorted(options(scenario(**{field: value}))) == sorted((*PLAIN, *expected))


def test_what_is_left_to_the_engine_is_not_written() -> None:
    assert options(scenario()) == PLAIN


def test_attention_data_parallelism_is_spelled_as_the_release_knows_it() -> None:
    assert ("--enable-dp-attention", "--dp-size", "2") in options(scenario(attn_dp_size=2), "0.5.16")


def test_a_draft_without_a_checkpoint_names_none() -> None:
    assert not [option for option in options(scenario(speculation=Speculation("NGRAM"))) if option[0] == "--speculative-draft-model-path"]


def test_rocm_is_cuda_to_torch() -> None:
    assert ("--device", "cuda") in options(scenario(MI300))


@given(st.sets(st.sampled_from(sorted(SPELLED))))
def test_no_option_is_written_twice_so_that_their_order_says_nothing(chosen: set[str]) -> None:
    words = [word for option in options(scenario(**{field: SPELLED[field][0] for field in chosen})) for word in option]
    names = [word for word in words if word.startswith("--")]
    assert len(set(names)) == len(names)
    assert all(set(option) <= set(words) for field in chosen for option in SPELLED[field][1])
