from __future__ import annotations

from typing import Any

from backends.gpu import Gpu
from backends.model import Model
from store.scenario import Speculation
from tests.asking import entries, mla_model
from tests.tuner.scenarios import B200, DSV3, GPT_OSS, H100, LLAMA, scenario
from tuner.engines.sglang.caveats import caveats, refusals

ALL = tuple(entries().values())


def notes(board: Gpu = H100, asked: Model = LLAMA, **flags: Any) -> tuple[str, ...]:
    return caveats(scenario(board, asked, **flags), ALL, "0.5.22", None)


def test_drafts_left_out_and_written_out() -> None:
    (note,) = notes(speculation=Speculation("EAGLE"))
    assert note == (
        "as written SGLang runs fa3 at page size 1; with topk=4, steps=5 and draft_tokens=8, which SGLang fills in later, written out "
        "it runs flashinfer at page size 1"
    )


def test_one_split_flag_on_gpt_oss() -> None:
    first, _ = notes(H100, GPT_OSS, decode_attention_backend="triton")
    assert first.startswith("as written SGLang refuses to start (allowed.gpt-oss); with both split flags written, prefill fa3 and decode")


def test_fp8_e5m2_takes_the_base_from_fa3_and_not_the_split_flags() -> None:
    replaced, other = notes(attention_backend="fa3", kv_cache_dtype="fp8_e5m2")
    assert replaced.startswith("SGLang replaces --attention-backend fa3 by triton (compat.fa3-e5m2)")
    assert other == "as written SGLang runs triton at page size 1; with fa3 written as both split flags it runs fa3 at page size 1"


def test_an_equal_pair_replaces_the_base() -> None:
    flags = {"attention_backend": "triton", "prefill_attention_backend": "fa3", "decode_attention_backend": "fa3"}
    assert any(note.startswith("SGLang replaces --attention-backend triton by fa3 (base.equal-pair)") for note in notes(**flags))


def test_a_page_size_that_is_forced_is_to_be_passed_on() -> None:
    (note,) = notes(B200, LLAMA, page_size=1)
    assert note == (
        "SGLang replaces --page-size 1 by 64 (compat.page-trtllm-mha): TensorRT-LLM MHA takes pages of 16, 32, 64 or 128, and the draft "
        "shares the server's page size; prefixes are reused by such pages, and a router that knows the page size has to follow"
    )


def test_a_dtype_that_a_check_knows_by_one_of_its_names_only() -> None:
    (note,) = notes(B200, DSV3, attention_backend="trtllm_mla", kv_cache_dtype="bfloat16")
    assert note.startswith("as written SGLang refuses to start (compat.trtllm-mla-kv); with --kv-cache-dtype bf16 (the same dtype) it runs")
    (refusal,) = refusals(scenario(B200, DSV3, attention_backend="trtllm_mla", kv_cache_dtype="bfloat16"), "0.5.22", None)
    assert refusal == (
        "SGLang 0.5.22 would not start with these settings: trtllm_mla takes no KV dtype bfloat16; write fp8_e4m3, bf16 or auto "
        "(compat.trtllm-mla-kv)"
    )


def test_an_old_name_that_is_served_alike_says_nothing() -> None:
    sparse = mla_model(architecture="DeepseekV32ForCausalLM")
    assert notes(H100, sparse, attention_backend="nsa") == notes(H100, sparse, attention_backend="dsa")


def test_a_wish_that_every_spelling_gets_says_nothing() -> None:
    assert notes() == notes(attention_backend="fa3") == notes(speculation=Speculation("EAGLE", 4, 5, 8)) == ()
