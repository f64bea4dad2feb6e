from __future__ import annotations

import json

from hypothesis import given

from reports.launchers import json_flags
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.hostile import pins
from tuner.exporting.launchers import load_launchers

JSON = load_launchers()["json"]


def test_a_program_reads_flags_and_reasons() -> None:
    content = json.loads(json_flags.render(building.pin(), JSON))
    assert content["flags"] == {"decode-attention-backend": "flashinfer", "prefill-attention-backend": "fa3"}
    assert content["because"] == {"decode-attention-backend": building.BECAUSE}
    assert (content["unset"], content["engine"], content["valid_for"]["engine_version"]) == (None, "sglang", "0.5.16")


def test_a_pin_that_sets_nothing_has_no_flags_and_a_reason() -> None:
    content = json.loads(json_flags.render(building.pin(building.kept()), JSON))
    assert (content["flags"], content["unset"]) == ({}, "unset, because with the best arm a step is at most 0.42 % faster")


@given(pins())
def test_anything_is_one_ascii_text_and_read_back(pin: Pin) -> None:
    text = json_flags.render(pin, JSON)
    assert text.isascii() and json.loads(text)["flags"] == dict(pin.flags)
