"""Knobs as a driver's entry declares them, and how an arm comes to have them."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from backends.arm import Arm, Provider
from backends.cell import Phase
from backends.entry_fields import EntryError
from backends.knob import Knob, applies, knob_from
from backends.sglang.runner import environment_of
from tests.tuner.scenarios import scenario
from tuner.limiting.knobs import with_knobs

ARM = Arm("triton", Provider.ENGINE, "a:B", 1, "bfloat16", ("triton",))


def read(data: Any) -> Knob:
    return knob_from("splits", data, "backend mine, driver, knobs", "sglang")


def test_a_list_holds_the_values_that_it_takes_and_none_that_is_searched() -> None:
    assert read([1, 2]) == Knob("splits", ("1", "2")) and not read([]).search


def test_a_mapping_says_what_is_searched_where_and_by_which_source() -> None:
    found = read({"search": ["4"], "phases": ["decode"], "versions": ["0.5.22.."], "source": "x.py", "without": ["tile"]})
    assert (found.search, found.phases, found.without, found.source) == (("4",), (Phase.DECODE,), ("tile",), "x.py")
    assert "0.5.22" in found.versions and "0.5.16" not in found.versions


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("any", r"is 'any'; write the list of its values, \[\] for any"),
        ({"search": ["4"]}, "needs 'source'"),
        ({"search": ["4"], "values": ["5"], "source": "x"}, "search names 4, which is none of its values; write some of 5"),
        (
            {"search": ["4"], "source": "x", "phases": ["verify"]},
            "phase 'verify' is unknown; write some of prefill, decode|decode, prefill",
        ),
        ({"value": ["4"]}, "'value' is unknown"),
    ],
)
def test_a_mistake_is_named_with_what_may_stand_there(data: Any, why: str) -> None:
    with pytest.raises(EntryError, match=why):
        read(data)


def test_it_does_nothing_where_a_condition_is_not_met_or_an_exception_is() -> None:
    wanted = read({"search": ["4"], "source": "x", "when": {"attention": ["mha"]}, "unless": {"deterministic": ["wanted"]}})
    plain = {"attention": ("mha",), "deterministic": ()}
    assert applies(wanted, "0.5.22", plain)
    assert not applies(wanted, "0.5.22", {**plain, "attention": ("mla",)})
    assert not applies(wanted, "0.5.22", {**plain, "deterministic": ("wanted",)})
    assert not applies(wanted, "0.33.0", plain)


def test_page_size_and_kv_dtype_are_the_arm_s_own_and_names_are_unique() -> None:
    paged, narrow = with_knobs(ARM, [("page-size", "64")], scenario()), with_knobs(ARM, [("kv_cache_dtype", "fp8_e4m3")], scenario())
    assert (paged.page_size, paged.knobs) == (64, ()) and narrow.kv_dtype == "float8_e4m3fn"
    assert len({arm.name for arm in (ARM, paged, narrow, with_knobs(ARM, [("splits", "4")], scenario()))}) == 4


def test_variables_hold_while_a_backend_is_built_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_KEPT", "before")
    monkeypatch.delenv("SGLANG_NEW", raising=False)
    arm = replace(ARM, knobs=(("SGLANG_KEPT", "within"), ("SGLANG_NEW", "1"), ("splits", "4")))
    with environment_of(arm):
        assert (os.environ["SGLANG_KEPT"], os.environ["SGLANG_NEW"]) == ("within", "1") and "splits" not in os.environ
    assert os.environ["SGLANG_KEPT"] == "before" and "SGLANG_NEW" not in os.environ
