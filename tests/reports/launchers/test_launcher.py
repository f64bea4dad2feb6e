from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.launchers.launcher import ExportError, flags_of, safe
from tests.reports import building
from tuner.exporting.launchers import load_launchers

SGLANG = load_launchers()["sglang"]


def test_names_are_translated_by_the_launchers_maps() -> None:
    other = replace(SGLANG, flags={**SGLANG.flags, "decode-attention-backend": "decode-backend"}, backends={"flashinfer": "FLASHINFER"})
    flag = flags_of(building.pin(), other)[0]
    assert (flag.name, flag.value, flag.because) == ("decode-backend", "FLASHINFER", building.BECAUSE)


def test_the_backend_map_leaves_other_flags_alone() -> None:
    pin = replace(building.pin(), flags=(("page-size", "64"),))
    assert flags_of(pin, replace(SGLANG, backends={"64": "sixty-four"}))[0].value == "64"


def test_a_flag_the_launcher_has_no_word_for_is_an_error() -> None:
    pin = replace(building.pin(), flags=(("block-size", "64"),))
    with pytest.raises(ExportError, match="launcher sglang has no word for the pinned flag 'block-size'; it knows attention-backend"):
        flags_of(pin, SGLANG)


@given(st.text(max_size=160))
def test_a_safe_reason_is_one_line_no_longer_than_it_was_and_joins_nothing(reason: str) -> None:
    made = safe(reason)
    assert made is None or (made.isprintable() and len(made) <= 160 and not made.endswith("\\"))


def test_an_ordinary_reason_is_not_touched() -> None:
    assert safe(building.BECAUSE) == building.BECAUSE
    assert safe("two\nlines \\") == "two lines"
