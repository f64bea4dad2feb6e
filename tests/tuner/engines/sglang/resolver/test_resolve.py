"""What comes out of a resolution, by the rows that SGLang 0.5.22 itself answered under simulated GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tuner.engines.sglang.resolver.outcome import Resolution
from tuner.engines.sglang.resolver.request import Draft, Graphs, Machine, ModelFacts, Request
from tuner.engines.sglang.resolver.steps import resolve

H100 = Machine("cuda", 90, (13, 0), 81559.0, flashinfer=True)
B200 = Machine("cuda", 100, (13, 0), 183359.0, flashinfer=True)
A100 = Machine("cuda", 80, (13, 0), 81559.0, flashinfer=True)
NPU, MAC, CPU = Machine("npu"), Machine("mps", arm64=True), Machine("cpu")
LLAMA = ModelFacts("LlamaForCausalLM")
DSV3 = ModelFacts("DeepseekV3ForCausalLM", mla=True, kv_heads=128)
SPARSE = replace(DSV3, architecture="DeepseekV32ForCausalLM", sparse=True)
QWEN_NEXT = ModelFacts("Qwen3NextForCausalLM")
GPT_OSS = ModelFacts("GptOssForCausalLM", sinks=True)
EAGLE = Draft("EAGLE", topk=1, steps=3, draft_tokens=4)
STATES = {"mamba_strategy": "extra_buffer"}


def request(machine: Machine = H100, model: ModelFacts = LLAMA, version: str = "0.5.22", **flags: Any) -> Request:
    return Request(version, model, machine, **flags)


def resolved(*arguments: Any, **flags: Any) -> Resolution:
    return resolve(request(*arguments, **flags))


ROWS: list[tuple[Machine, ModelFacts, dict[str, Any], tuple[str, str, int]]] = [
    (H100, DSV3, {}, ("fa3", "fa3", 1)),
    (B200, DSV3, {}, ("trtllm_mla", "trtllm_mla", 64)),
    (B200, SPARSE, {}, ("dsa", "dsa", 64)),
    (B200, QWEN_NEXT, {}, ("triton", "triton", 1)),
    (B200, QWEN_NEXT, {"page_size": 64}, ("triton", "triton", 1)),
    (B200, QWEN_NEXT, STATES, ("trtllm_mha", "trtllm_mha", 64)),
    (B200, QWEN_NEXT, {"disable_radix_cache": True}, ("trtllm_mha", "trtllm_mha", 64)),
    (H100, QWEN_NEXT, {}, ("fa3", "fa3", 1)),
    (B200, GPT_OSS, {}, ("trtllm_mha", "trtllm_mha", 64)),
    (B200, LLAMA, {"draft": EAGLE}, ("trtllm_mha", "trtllm_mha", 64)),
    (B200, LLAMA, {"draft": Draft("EAGLE")}, ("flashinfer", "flashinfer", 1)),
    (B200, LLAMA, {"deterministic": True}, ("flashinfer", "flashinfer", 1)),
    (H100, LLAMA, {"attention_backend": "fa3", "kv_cache_dtype": "fp8_e5m2"}, ("triton", "triton", 1)),
    (H100, LLAMA, {"decode_attention_backend": "fa3", "kv_cache_dtype": "fp8_e5m2"}, ("triton", "fa3", 1)),
    (B200, DSV3, {"decode_attention_backend": "cutedsl_mla"}, ("trtllm_mla", "cutedsl_mla", 64)),
    (NPU, LLAMA, {"attention_backend": "triton"}, ("ascend", "ascend", 128)),
    (MAC, DSV3, {}, ("torch_native", "torch_native", 1)),
]


@pytest.mark.parametrize(("machine", "model", "flags", "answer"), ROWS)
def test_a_row_that_sglang_answered(machine: Machine, model: ModelFacts, flags: dict[str, Any], answer: tuple[str, str, int]) -> None:
    found = resolved(machine, model, **flags)
    assert (found.prefill, found.decode, found.page_size) == answer
    assert found.error is None


def test_the_path_and_the_changes_say_how_it_came_about() -> None:
    found = resolved(B200, LLAMA, page_size=1)
    assert found.path == ("default.mha.sm100", "compat.page-trtllm-mha")
    assert [(change.setting, change.before, change.after) for change in found.changes] == [
        ("base", None, "trtllm_mha"),
        ("page_size", 1, 64),
    ]


def test_a_refusal_ends_the_path_and_says_why() -> None:
    found = resolved(A100, LLAMA, attention_backend="trtllm_mha")
    assert found.error is not None and found.error.rule == found.path[-1] == "compat.trtllm-mha-prefill"
    assert found.error.text == "trtllm_mha prefills on SM90, SM100 and SM120 only; choose another prefill backend"


def test_one_split_flag_alone_is_refused_for_gpt_oss_and_both_are_taken() -> None:
    alone = resolved(H100, GPT_OSS, decode_attention_backend="triton")
    assert alone.error is not None and "prefill unset, decode triton" in alone.error.text
    assert resolved(H100, GPT_OSS, prefill_attention_backend="fa3", decode_attention_backend="triton").error is None


def test_the_same_draft_left_out_and_written_out_gets_two_answers() -> None:
    written = Draft("EAGLE", topk=4, steps=5, draft_tokens=8)
    assert (resolved(draft=Draft("EAGLE")).decode, resolved(draft=written).decode) == ("fa3", "flashinfer")
    assert resolved(draft=Draft("EAGLE")).settings.topk == 4


def test_the_draft_backend_sets_the_page_size_of_the_server_from_0_5_22_on() -> None:
    flags: dict[str, Any] = {"attention_backend": "triton", "page_size": 1, "draft": replace(EAGLE, attention_backend="trtllm_mha")}
    assert [resolved(version=version, **flags).page_size for version in ("0.5.16", "0.5.22")] == [1, 64]


def test_verify_runs_on_the_prefill_side_unless_told_otherwise() -> None:
    assert resolved().verify_side is None
    assert resolved(draft=EAGLE).verify_side == "prefill"
    assert resolved(draft=replace(EAGLE, attention_mode="decode")).verify_side == "decode"


def test_graphs_follow_the_flags_the_role_and_the_backend() -> None:
    assert (resolved().settings.decode_graph, resolved().settings.prefill_graph) == ("full", "breakable")
    assert resolved(role="prefill").settings.decode_graph == "disabled"
    assert resolved(graphs=Graphs(off=True, prefill="breakable")).settings.prefill_graph == "breakable"
    assert resolved(attention_backend="torch_native").settings.decode_graph == "disabled"


def test_deterministic_inference_with_a_backend_that_shares_no_prefixes_turns_the_radix_cache_off() -> None:
    assert not resolved(attention_backend="flashinfer", deterministic=True).settings.radix_cache
    assert resolved(deterministic=True).settings.radix_cache


@pytest.mark.parametrize(("name", "version", "refused"), [("cutlass_mla", "0.5.16", False), ("cutlass_mla", "0.5.22", True)])
def test_removed_names_are_refused_by_the_releases_that_removed_them(name: str, version: str, refused: bool) -> None:
    found = resolved(B200, DSV3, version, attention_backend=name)
    assert (found.error is not None and found.error.rule == "names.removed") == refused


def test_an_old_name_is_read_as_the_new_one_where_sglang_does_so() -> None:
    assert resolved(B200, DSV3, "0.5.23", decode_attention_backend="tokenspeed_mla").decode == "cutedsl_mla"
    assert resolved(B200, DSV3, "0.5.22", decode_attention_backend="tokenspeed_mla", kv_cache_dtype="fp8_e4m3").decode == "tokenspeed_mla"
    assert resolved(attention_backend="compressed").base == "dsv4"


def test_a_rule_that_is_switched_off_is_missed() -> None:
    asked = request(B200, LLAMA)
    assert resolve(asked, frozenset(("compat.page-trtllm-mha",))).page_size == 1
    assert resolve(asked, frozenset(("default.mha.sm100",))).decode == "flashinfer"


def test_a_deadlier_flag_changes_nothing_that_came_before_it() -> None:
    """A refusal keeps what was settled so far."""
    found = resolved(B200, LLAMA, page_size=48, attention_backend="triton")
    assert found.error is not None and (found.decode, found.page_size) == ("triton", 48)
