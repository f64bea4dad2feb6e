"""Differences between backends, foretold and measured, on rows that are made up."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest

from backends.cell import Phase
from backends.step.shape import RestTimes
from tests.bench.step.agenda import ENGINE, REST, ROUND, STREAMED, TURNS
from tests.bench.step.judge import HALF_WIDTH, HOLDS, MANY, OFF, POINTS, WIDE, Difference, differences, ground, half_width, predicted
from tests.bench.step.page import render
from tests.bench.step.rows import Call, Row, Step, Turns
from tuner.step_model.shape import shape_of
from tuner.workload.ranks import ranks_of

NAME = "decode-64x2048"
WEIGHTED = next(weighted for weighted in ground().plan.cells if weighted.cell.name == NAME)
LAYERS = WEIGHTED.layers
US, METADATA_US = {"fa3": 143.5, "triton": 235.4}, {"fa3": 100.0, "triton": 40.0}


def row(kind: str, index: int = 0, arm: str | None = None, **found: tuple) -> Row:  # type: ignore[type-arg]
    return Row(kind, index, arm, "a", "NVIDIA H200", (("sglang", "0.5.16"),), 50.0, **found)


def ours() -> list[Row]:
    return [row(ROUND, index, calls=tuple(Call(NAME, arm, (us, us), METADATA_US[arm]) for arm, us in US.items())) for index in range(2)]


def engine(more_ms: float, wobble: float = 0.0, runs: int = 5, processes: int = 2) -> list[Row]:
    """fa3 takes 10 ms, triton ``more_ms`` more; every other run ``wobble`` ms off."""
    slower = tuple(10.0 + more_ms + (wobble if run % 2 else 0.0) for run in range(runs))
    turns = (Turns(NAME, "fa3", (10.0,) * runs), Turns(NAME, "triton", slower))
    return [row(TURNS, index, turns=turns) for index in range(processes)]


def found(*rows: Row) -> Difference:
    (only,) = differences(rows, Phase.DECODE)
    return only


def test_a_step_is_layers_times_the_call_and_metadata_once() -> None:
    assert predicted(ours(), WEIGHTED, "fa3") is not None
    step = predicted(ours(), WEIGHTED, "triton")
    assert step is not None and step.attention_ms == pytest.approx(LAYERS * 0.2354) and step.metadata_ms == pytest.approx(0.04)
    assert step.own_ms == pytest.approx(step.attention_ms + 0.04)


def test_what_our_calls_foretell_holds_where_the_engine_differs_by_as_much() -> None:
    more = LAYERS * (US["triton"] - US["fa3"]) / 1000 - 0.06
    difference = found(*ours(), *engine(more))
    assert difference.measured == pytest.approx(10 * more) == difference.foretold
    assert (difference.runs, difference.half_width) == (10, pytest.approx(0.0, abs=1e-9)) and difference.verdict == HOLDS


def test_a_step_that_takes_the_engine_longer_does_not_make_a_difference_in_ms_another() -> None:
    """Its host prepares each step of this benchmark, which no server waits for."""
    more = LAYERS * (US["triton"] - US["fa3"]) / 1000 - 0.06
    difference = found(*ours(), *engine(more))
    low, high = difference.of_own_step
    assert low < high < difference.foretold or low < difference.foretold < high or difference.foretold < low < high
    assert difference.apart == pytest.approx(0.0) and difference.apart_of_own_step == max(low - 10 * more, 10 * more - high, 0.0)


def test_more_than_two_points_between_them_are_off() -> None:
    more = LAYERS * (US["triton"] - US["fa3"]) / 1000 - 0.06
    assert found(*ours(), *engine(more + 0.19)).verdict == HOLDS and found(*ours(), *engine(more - 0.19)).verdict == HOLDS
    difference = found(*ours(), *engine(more + 0.21))
    assert difference.apart > POINTS and difference.verdict == OFF


def test_thehalf_width_is_that_of_the_median_of_normal_values() -> None:
    """Of what scatters evenly to both sides it holds the middle as often as it says; and five values have none."""
    drawn = np.random.default_rng(1).normal(0.0, 0.5, (5000, 10))
    held = [abs(float(np.median(row))) <= (half_width(row.tolist()) or 0.0) for row in drawn]
    assert 0.93 < fmean(held) < 0.98 and half_width([1.0, 2.0, 3.0, 4.0, 5.0]) is None and half_width([1.0] * 6) == 0.0


def test_runs_that_scatter_are_not_sure_and_after_ten_no_longer_judged() -> None:
    wide = found(*ours(), *engine(3.0, wobble=0.5, runs=4))
    assert wide.half_width is not None and wide.half_width > HALF_WIDTH and wide.verdict == WIDE
    assert found(*ours(), *engine(3.0, processes=1)).half_width is None and found(*ours(), *engine(3.0, processes=1)).verdict == WIDE
    assert found(*ours(), *engine(3.0, wobble=2.0, processes=2)).verdict == MANY


def test_runs_of_all_processes_count_and_each_process_is_told() -> None:
    rows = [*engine(3.0, processes=1), *(Row(**{**vars(each), "sitting": "b"}) for each in engine(3.5, processes=1))]
    difference = found(*ours(), *rows)
    assert difference.runs == 10 and difference.processes == pytest.approx((30.0, 35.0)) and difference.measured == pytest.approx(32.5)


def test_an_arm_without_its_default_in_the_same_process_is_not_compared() -> None:
    (one,) = engine(3.0, processes=1)
    apart = [Row(**{**vars(one), "sitting": name, "turns": (turns,)}) for name, turns in zip("ab", one.turns)]
    assert list(differences([*ours(), *apart], Phase.DECODE)) == []


def test_the_page_says_what_holds_and_where_a_step_takes_more_than_its_parts() -> None:
    alone, lost = row(ENGINE, 0, "fa3", steps=(Step("64x2048", 10.5, 900.0),)), row(ENGINE, 1, "fa4", failed="no memory")
    page = render([*ours(), *engine(5.0, processes=2), alone, lost, row(TURNS, 2, lacks=("fa4: no kernel",))])
    assert "**1 difference of decode steps: 1 off.** Those judged are at most" in page
    assert f"| {NAME} | triton - fa3 | +50.00 | 0.00 | 10 | +50.00, +50.00 |" in page
    assert f"| {NAME} | fa3 | 10.000 (10.000 to 10.000) | 10.500 |" in page
    assert "- engine 1 fa4: no memory" in page and "- turns 2: fa4: no kernel" in page
    assert "Not measured yet." in render([]) and Phase.DECODE.value in page


def test_the_figure_has_a_mark_for_every_difference_and_is_the_same_again() -> None:
    pytest.importorskip("matplotlib")
    from tests.bench.step.plot import draw

    found = [*differences([*ours(), *engine(3.0)], Phase.DECODE)] * 3
    assert draw(found) == draw(found) and draw(found).count(b"<use ") > draw(found[:1]).count(b"<use ")
    assert "whole-step.svg" in render([*ours(), *engine(3.0)]) and "whole-step.svg" not in render(ours())


def test_the_page_says_with_what_share_of_the_bandwidth_weights_are_read() -> None:
    cell = next(each.cell for each in ground().plan.cells if each.cell.name == "decode-1x512")
    scenario = ground().plan.scenario
    shape = shape_of(scenario.model, ranks_of(scenario.engine), cell)
    assert shape is not None and scenario.gpu.bandwidth_bytes_per_s is not None
    ms = 1e3 * shape.weight_bytes() / scenario.gpu.bandwidth_bytes_per_s
    page = render([*ours(), row(REST, rests=(RestTimes(shape, "graph", (ms / 0.8,) * 3, (ms / 0.75,) * 3),))])
    assert f"reads {shape.weight_bytes() / 1e9:.2f} GB of weights: with 0.75 to 0.80 of the sheet's 4.80 TB/s" in page


def test_calls_with_weights_between_them_stand_before_those_back_to_back() -> None:
    slower = {arm: us + (5.0 if arm == "fa3" else 0.0) for arm, us in US.items()}
    streamed = row(STREAMED, calls=tuple(Call(NAME, arm, (us,), METADATA_US[arm]) for arm, us in slower.items()))
    difference = found(*ours(), streamed, *engine(3.0))
    assert difference.back_to_back == pytest.approx(found(*ours(), *engine(3.0)).foretold)
    assert difference.foretold == pytest.approx(difference.back_to_back - 10 * LAYERS * 0.005)
