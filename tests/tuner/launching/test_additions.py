"""The pin's flags beside what the user wrote: the user's go before them, and it is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store.pins.pin import Pin
from tests.reports import building
from tuner.engines.lookup import choices_of
from tuner.errors import UsageError
from tuner.launching.additions import Additions, additions
from tuner.launching.written import written

SGLANG = choices_of("sglang")
ONE = (("attention-backend", "trtllm_mha"), ("page-size", "64"))
PAIR = (("decode-attention-backend", "flashinfer"), ("prefill-attention-backend", "fa3"))


def added(flags: tuple[tuple[str, str], ...], *words: str) -> Additions:
    pin: Pin = replace(building.pin(), flags=flags)
    return additions(pin, written(words, SGLANG), SGLANG)


def test_what_the_command_leaves_open_is_added_and_said() -> None:
    found = added(PAIR, "sglang", "serve")
    assert found.words == ("--decode-attention-backend", "flashinfer", "--prefill-attention-backend", "fa3")
    assert found.said == ("added --decode-attention-backend flashinfer --prefill-attention-backend fa3",)


@pytest.mark.parametrize("words", [["--attention-backend", "triton"], ["--attention-backend=triton"], ["--decode-attention-b", "triton"]])
def test_a_users_backend_goes_before_both_of_a_pair(words: list[str]) -> None:
    found = added(PAIR, *words)
    assert found.words == () and len(found.said) == 2
    assert all("triton is yours; it goes before the pin" in sentence for sentence in found.said)


def test_a_page_size_stays_away_from_backends_that_it_was_not_measured_with() -> None:
    found = added(ONE, "--attention-backend", "fa3")
    assert found.words == ()
    assert found.said[1] == "--page-size 64 is not added: it was measured with the pinned backends, and --attention-backend fa3 is yours"


def test_a_users_flag_that_is_the_pins_own_leaves_the_rest_to_be_added() -> None:
    found = added(ONE, "--attention-backend", "trtllm_mha")
    assert found.words == ("--page-size", "64")
    assert "is yours, as the pin has it (in the command line)" in found.said[1]


def test_a_users_page_size_goes_before_the_pins() -> None:
    assert added(ONE, "--page-size=16").words == ("--attention-backend", "trtllm_mha")


def test_a_pin_that_sets_nothing_adds_nothing_and_says_why() -> None:
    found = additions(building.pin(building.kept()), (), SGLANG)
    assert found.words == () and found.said[0].startswith("the pin sets no flag: ")


def test_a_flag_that_no_run_pins_is_refused() -> None:
    with pytest.raises(UsageError, match="sets --trust-remote-code true, which attnpin does not"):
        added((("trust-remote-code", "true"),), "sglang")


def test_a_variable_of_the_pin_is_set_unless_the_environment_has_its_own() -> None:
    pin = replace(building.pin(), variables=(("SGLANG_X", "true"), ("SGLANG_Y", "1")))
    found = additions(pin, written(("sglang", "serve"), SGLANG), SGLANG, {"SGLANG_Y": "0"})
    assert found.variables == (("SGLANG_X", "true"),)
    assert found.said[-2:] == ("set SGLANG_X=true in its environment", "SGLANG_Y=0 is yours and goes before the pin")


def test_a_switch_is_added_without_a_value() -> None:
    found = added((*PAIR, ("flashinfer-mla-disable-ragged", "true")), "sglang", "serve")
    assert found.words[-1] == "--flashinfer-mla-disable-ragged" and found.said[0].endswith(" --flashinfer-mla-disable-ragged")
