from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.limits import Limit, Span, allowed_in_words, allows, misfits, reason, release, source_in_words
from backends.model import LayerKind
from tests.asking import FULL, model, question


def test_versions_are_compared_as_numbers() -> None:
    versions = ["0.6.16rc2", "0.6.10", "0.6.8.post1", "0.6.9"]
    assert sorted(versions, key=release) == ["0.6.8.post1", "0.6.9", "0.6.10", "0.6.16rc2"]


@pytest.mark.parametrize(("value", "inside"), [(7, False), (8, True), (256, True), (257, False)])
def test_both_ends_of_a_span_belong_to_it(value: int, inside: bool) -> None:
    assert (value in Span("8", "256")) is inside


@pytest.mark.parametrize(("value", "inside"), [("12.2", False), ("12.3", True), ("12.10", True), ("13.0", True), ("unknown", False)])
def test_a_span_of_versions_is_no_span_of_words(value: str, inside: bool) -> None:
    assert (value in Span("12.3", None)) is inside


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_span_holds_what_lies_between_its_ends(low: int, value: int, high: int) -> None:
    assert (value in Span(str(low), str(high))) == (low <= value <= high)


def test_a_span_reads_as_words() -> None:
    assert [str(span) for span in (Span("8", "256"), Span("2", None), Span(None, "3"))] == ["8 to 256", "2 or more", "3 or less"]


def test_nothing_allowed_allows_nothing() -> None:
    assert not allows((), 1)


def test_a_limit_counts_only_under_its_conditions() -> None:
    limit = Limit("head_dim", (64,), "made up", when=(("kv_dtype", ("float8_e4m3fn",)),))
    assert misfits(limit, question(kv_dtype="float8_e4m3fn"), FULL) == (128,)
    assert misfits(limit, question(), FULL) == ()


def test_conditions_on_a_layer_are_met_by_one_layer_not_by_two() -> None:
    limit = Limit("sinks", (), "made up", when=(("head_dim", (64,)), ("sliding_window", (Span("1", None),))))
    narrow, window = LayerKind("full", 1, 8, 8, 64, 64), LayerKind("window", 1, 8, 8, 128, 128, 256)
    asked = question(model=model(narrow, window, sinks=True))
    assert [misfits(limit, asked, layer) for layer in (narrow, window)] == [(), ()]


def test_a_limit_counts_only_for_its_versions() -> None:
    limit = Limit("group", (1,), "made up", versions=("0.5.16",))
    assert misfits(limit, question(rules="0.5.16"), FULL) == (4,)
    assert misfits(limit, question(rules="0.5.22"), FULL) == ()


def test_what_is_allowed_reads_with_its_conditions_and_why() -> None:
    limit = Limit("sm", (90, 100), "made up", when=(("attention", ("mla",)),), why="built for these")
    assert allowed_in_words(limit) == "sm 90, 100 for mla attention: built for these"
    assert allowed_in_words(Limit("sinks", (), "made up")) == "none"


def test_a_remedy_of_its_own_stands_before_the_word_s() -> None:
    assert reason(Limit("group", (1,), "made up", remedy="update it"), 4).remedy == "update it"


def test_the_engine_s_versions_stand_beside_the_engine_s_files_only() -> None:
    assert source_in_words(Limit("group", (), "sglang/srt/x.py")) == "sglang/srt/x.py (0.5.16 and 0.5.22)"
    assert source_in_words(Limit("group", (), "FlashInfer issue 1")) == "FlashInfer issue 1"
