from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.allowed import Span, Taken, release
from backends.answers import Value
from backends.asked import Kind
from backends.limits import Limit, Misfit, misfits
from backends.model import LayerKind
from backends.question import Question
from tests.asking import FULL, model, question


def broken(limit: Limit, asked: Question, layer: LayerKind = FULL) -> tuple[Value | None, ...]:
    return tuple(misfit.value for misfit in misfits(limit, Kind(asked, layer)))


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
    assert not Taken(())[1]


def test_a_limit_counts_only_under_its_conditions() -> None:
    limit = Limit("head_dim", (64,), "made up", when=(("kv_dtype", ("float8_e4m3fn",)),))
    assert broken(limit, question(kv_dtype="float8_e4m3fn")) == (128,)
    assert broken(limit, question()) == ()


def test_conditions_on_a_layer_are_met_by_one_layer_not_by_two() -> None:
    limit = Limit("sinks", (), "made up", when=(("head_dim", (64,)), ("sliding_window", (Span("1", None),))))
    narrow, window = LayerKind("full", 1, 8, 8, 64, 64, sinks=True), LayerKind("window", 1, 8, 8, 128, 128, 256, sinks=True)
    asked = question(model=model(narrow, window))
    assert [broken(limit, asked, layer) for layer in (narrow, window)] == [(), ()]


def test_what_nobody_knows_is_a_misfit_on_trust() -> None:
    limit = Limit("flashinfer", (Span("0.6.14", None),), "made up", when=(("head_dim", (128,)),))
    [misfit] = misfits(limit, Kind(question(), FULL))
    assert (misfit, misfit.certain) == (Misfit(None), False)
    assert broken(limit, question(packages={"flashinfer": "0.6.12"})) == ("0.6.12",)
    assert broken(limit, question(packages={"flashinfer": "0.6.14.post1"})) == ()
    assert broken(limit, question(packages={"torch": "2.11"})) == ()  # that it is missing is a reason of its own


def test_a_condition_that_nobody_knows_is_taken_to_be_met_and_named() -> None:
    limit = Limit("head_dim", (64,), "made up", when=(("flashinfer", (Span(None, "0.6.12"),)),))
    assert misfits(limit, Kind(question(), FULL)) == (Misfit(128, ("flashinfer",)),)
    assert broken(limit, question(packages={"flashinfer": "0.6.14"})) == ()


def test_what_is_allowed_reads_with_its_conditions_and_why() -> None:
    limit = Limit("sm", (90, 100), "made up", when=(("attention", ("mla",)),), why="built for these")
    assert limit.in_words == "sm 90, 100 for mla attention: built for these"
    assert Limit("sinks", (), "made up").in_words == "none"
