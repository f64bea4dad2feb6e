from __future__ import annotations

import shlex
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reports.launchers import sglang_flags
from tests.reports import building
from tuner.launchers import load_launchers

SGLANG = load_launchers()["sglang"]


def test_the_flags_stand_on_one_line_in_full() -> None:
    text = sglang_flags.render(building.pin(), SGLANG)
    assert text == "--decode-attention-backend flashinfer --prefill-attention-backend fa3\n"


def test_a_pin_that_sets_nothing_gives_an_empty_line() -> None:
    assert sglang_flags.render(building.pin(building.kept()), SGLANG) == "\n"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_shell_reads_every_value_back(value: str) -> None:
    pin = replace(building.pin(), flags=(("kv-cache-dtype", value), ("page-size", "64")))
    assert shlex.split(sglang_flags.render(pin, SGLANG)) == ["--kv-cache-dtype", value, "--page-size", "64"]
