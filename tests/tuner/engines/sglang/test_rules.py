from __future__ import annotations

from dataclasses import replace

import pytest

from store.scenario import Speculation
from tests.tuner.scenarios import GPT_OSS, LLAMA
from tuner.engines.sglang.rules import final_topk, resolved_kv_dtype, rules_for


@pytest.mark.parametrize("version", ["0.5.16", "0.5.22"])
def test_a_version_that_was_read_has_its_own_rules(version: str) -> None:
    assert rules_for(version) == (version, None)


@pytest.mark.parametrize(
    ("version", "rules"),
    [("0.4.5", "0.5.16"), ("0.5.9", "0.5.16"), ("0.5.17", "0.5.16"), ("0.5.19", "0.5.22"), ("0.5.22.post1", "0.5.22"), ("0.6.0", "0.5.23")],
)
def test_any_other_version_gets_the_nearest_rules_and_a_note(version: str, rules: str) -> None:
    nearest, note = rules_for(version)
    assert nearest == rules
    assert note is not None and version in note and rules in note


@pytest.mark.parametrize(
    ("speculation", "topk"),
    [
        (Speculation(), 0),
        (Speculation(topk=4), 0),
        (Speculation("EAGLE"), 4),
        (Speculation("EAGLE3", topk=2), 2),
        (Speculation("STANDALONE"), 1),
        (Speculation("NGRAM"), 10),
    ],
)
def test_the_draft_width_is_the_one_the_server_ends_up_with(speculation: Speculation, topk: int) -> None:
    assert final_topk(LLAMA, speculation) == topk


def test_most_models_draft_in_a_chain() -> None:
    assert final_topk(GPT_OSS, Speculation("EAGLE")) == 1


def test_a_kv_flag_becomes_a_torch_dtype_where_torch_has_one() -> None:
    flags = ("auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "nvfp4")
    assert [resolved_kv_dtype(LLAMA, flag) for flag in flags] == [
        "bfloat16", "bfloat16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "nvfp4",
    ]  # fmt: skip
    assert resolved_kv_dtype(replace(LLAMA, dtype="float32"), "auto") == "float32"
