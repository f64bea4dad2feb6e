from __future__ import annotations

from store.decision import Pair
from store.run import DefaultPick
from tuner.engines.sglang import pin_flags

FA3 = DefaultPick("fa3", "fa3", 1, "bfloat16", "made up", "0.5.22")
TRTLLM = DefaultPick("trtllm_mha", "trtllm_mha", 64, "bfloat16", "made up", "0.5.22")


def test_what_the_engine_does_by_itself_needs_no_flag() -> None:
    assert pin_flags(Pair("fa3", "fa3"), FA3, 1) == ()


def test_one_backend_for_both_phases_is_one_flag() -> None:
    assert pin_flags(Pair("triton", "triton"), FA3, 1) == (("attention-backend", "triton"),)


def test_two_backends_are_both_written_also_the_default_s_side() -> None:
    expected = (("prefill-attention-backend", "fa3"), ("decode-attention-backend", "flashinfer"))
    assert pin_flags(Pair("fa3", "flashinfer"), FA3, 1) == expected


def test_a_forced_page_size_is_written_beside_the_backend_that_forces_it() -> None:
    assert pin_flags(Pair("fa4", "fa4"), TRTLLM, 128) == (("attention-backend", "fa4"), ("page-size", "128"))
    split = pin_flags(Pair("fa4", "trtllm_mha"), TRTLLM, 128)
    assert split[-1] == ("page-size", "128")


def test_the_default_s_page_size_is_not_written() -> None:
    assert pin_flags(Pair("triton", "triton"), TRTLLM, 64) == (("attention-backend", "triton"),)


def test_another_page_size_alone_is_one_flag() -> None:
    assert pin_flags(Pair("fa3", "fa3"), FA3, 64) == (("page-size", "64"),)
