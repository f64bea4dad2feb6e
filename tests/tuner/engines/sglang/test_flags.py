from __future__ import annotations

from store.decision import Pair
from store.runs.run import DefaultPick
from tests.tuner.scenarios import ENGINE, engine
from tuner.engines.sglang.pick import pin_flags

FA3 = DefaultPick("fa3", "fa3", 1, "bfloat16", "made up", "0.5.22")
TRTLLM = DefaultPick("trtllm_mha", "trtllm_mha", 64, "bfloat16", "made up", "0.5.22")


def test_what_the_engine_does_by_itself_needs_no_flag() -> None:
    assert pin_flags(Pair("fa3", "fa3"), FA3, 1, ENGINE) == ()


def test_one_backend_for_both_phases_is_one_flag() -> None:
    assert pin_flags(Pair("triton", "triton"), FA3, 1, ENGINE) == (("attention-backend", "triton"),)


def test_two_backends_are_both_written_also_the_default_s_side() -> None:
    expected = (("prefill-attention-backend", "fa3"), ("decode-attention-backend", "flashinfer"))
    assert pin_flags(Pair("fa3", "flashinfer"), FA3, 1, ENGINE) == expected


def test_a_forced_page_size_is_written_beside_the_backend_that_forces_it() -> None:
    assert pin_flags(Pair("fa4", "fa4"), TRTLLM, 128, ENGINE) == (("attention-backend", "fa4"), ("page-size", "128"))
    split = pin_flags(Pair("fa4", "trtllm_mha"), TRTLLM, 128, ENGINE)
    assert split[-1] == ("page-size", "128")


def test_the_default_s_page_size_is_not_written() -> None:
    assert pin_flags(Pair("triton", "triton"), TRTLLM, 64, ENGINE) == (("attention-backend", "triton"),)


def test_another_page_size_alone_is_one_flag() -> None:
    assert pin_flags(Pair("fa3", "fa3"), FA3, 64, ENGINE) == (("page-size", "64"),)


CHOSEN = DefaultPick("fa3", "triton", 1, "bfloat16", "made up", "0.5.22")


def test_what_the_user_chose_is_repeated_as_it_was_written_where_the_pick_keeps_it() -> None:
    both = DefaultPick("triton", "triton", 1, "bfloat16", "made up", "0.5.22")
    assert pin_flags(Pair("triton", "triton"), both, 1, engine(attention_backend="triton")) == (("attention-backend", "triton"),)
    assert pin_flags(Pair("fa3", "triton"), CHOSEN, 1, engine(decode_attention_backend="triton")) == (
        ("decode-attention-backend", "triton"),
    )
    written = engine(attention_backend="fa3", decode_attention_backend="triton")
    assert pin_flags(Pair("fa3", "triton"), CHOSEN, 1, written) == (("attention-backend", "fa3"), ("decode-attention-backend", "triton"))


def test_a_switch_beside_a_choice_writes_both_sides() -> None:
    expected = (("prefill-attention-backend", "flashinfer"), ("decode-attention-backend", "triton"))
    assert pin_flags(Pair("flashinfer", "triton"), CHOSEN, 1, engine(decode_attention_backend="triton")) == expected


def test_a_page_size_that_the_user_chose_is_repeated() -> None:
    paged = DefaultPick("fa3", "fa3", 64, "bfloat16", "made up", "0.5.22")
    assert pin_flags(Pair("fa3", "fa3"), paged, 64, engine(page_size=64)) == (("page-size", "64"),)
    assert pin_flags(Pair("triton", "triton"), paged, 64, engine(page_size=64)) == (("attention-backend", "triton"), ("page-size", "64"))
