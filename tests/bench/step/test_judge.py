"""Differences between backends, foretold and measured, on rows that are made up."""

from __future__ import annotations

import pytest

from backends.cell import Phase
from tests.bench.step.agenda import ENGINE, ROUND, TRIAL
from tests.bench.step.judge import HOLDS, MANY, OFF, POINTS, WIDE, Difference, differences, ground, predicted
from tests.bench.step.page import render
from tests.bench.step.rows import Call, Row, Step

NAME = "decode-64x2048"
WEIGHTED = next(weighted for weighted in ground().plan.cells if weighted.cell.name == NAME)
LAYERS = WEIGHTED.layers
US, METADATA_US = {"fa3": 143.5, "triton": 235.4}, {"fa3": 100.0, "triton": 40.0}


def row(kind: str, index: int = 0, arm: str | None = None, **found: tuple) -> Row:  # type: ignore[type-arg]
    return Row(kind, index, arm, "a", "NVIDIA H200", (("sglang", "0.5.16"),), 50.0, **found)


def ours() -> list[Row]:
    calls = row(ROUND, calls=tuple(Call(NAME, backend, (us, us)) for backend, us in US.items()))
    return [calls, *(row(TRIAL, 0, arm, calls=(Call(NAME, arm, (us,), METADATA_US[arm]),)) for arm, us in US.items())]


def engine(more_ms: float, wobble: float = 0.0, turns: int = 4) -> list[Row]:
    """fa3 takes 10 ms, triton ``more_ms`` more; every other turn ``wobble`` ms off."""
    return [
        row(ENGINE, turn, arm, steps=(Step("64x2048", 10.0 + more + (wobble if more and turn % 2 else 0.0), 900.0),))
        for turn in range(turns)
        for arm, more in (("fa3", 0.0), ("triton", more_ms))
    ]


def found(*rows: Row) -> Difference:
    (only,) = differences(rows)
    return only


def test_a_step_is_layers_times_the_call_and_metadata_once() -> None:
    assert predicted(ours(), WEIGHTED, "fa3") is not None
    step = predicted(ours(), WEIGHTED, "triton")
    assert step is not None and step.attention_ms == pytest.approx(LAYERS * 0.2354) and step.metadata_ms == pytest.approx(0.04)
    assert step.own_ms == pytest.approx(step.attention_ms + 0.04)


def test_what_our_calls_foretell_holds_where_the_engine_differs_by_as_much() -> None:
    more = LAYERS * (US["triton"] - US["fa3"]) / 1000 - 0.06
    difference = found(*ours(), *engine(more))
    assert difference.measured == pytest.approx(10 * more) and difference.runs == 4
    assert difference.low < difference.high and difference.verdict == HOLDS


def test_two_points_beyond_the_range_are_off() -> None:
    difference = found(*ours(), *engine(5.0))
    assert difference.apart > POINTS and difference.verdict == OFF


def test_turns_that_scatter_are_not_sure_and_after_ten_no_longer_judged() -> None:
    assert found(*ours(), *engine(3.0, wobble=0.5)).verdict == WIDE
    assert found(*ours(), *engine(3.0, turns=1)).half_width is None and found(*ours(), *engine(3.0, turns=1)).verdict == WIDE
    assert found(*ours(), *engine(3.0, wobble=2.0, turns=10)).verdict == MANY


def test_turns_of_different_sittings_are_not_compared() -> None:
    rows = [*ours(), engine(3.0, turns=1)[0], Row(**{**vars(engine(3.0, turns=1)[1]), "sitting": "b"})]
    assert list(differences(rows)) == []


def test_the_page_says_what_holds_and_where_a_step_takes_more_than_its_parts() -> None:
    page = render(
        [*ours(), *engine(5.0), row(ENGINE, 0, "fa4", failed=None), Row(**{**vars(row(ENGINE, 1, "fa4")), "failed": "no memory"})]
    )
    assert "**1 difference: 1 off.** Of 1 judged 0 hold." in page
    assert f"| {NAME} | triton - fa3 | +50.00 | 0.00 | 4 |" in page and "- engine 1 fa4: no memory" in page
    assert "Not measured yet." in render([]) and Phase.DECODE.value in page
