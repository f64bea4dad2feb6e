from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.cell import PageLayout
from store.revisit import Condition, Revisit
from store.runs.run import Run
from tests.tuner.building import DECODE, LAYERS, MODEL, decode, one_cell_each
from tests.tuner.revisited import STREAM_BYTES, asking, revisited
from tuner.arithmetic.looks import REVISITS
from tuner.budgeting.budget import Budget
from tuner.budgeting.rationing import left_out
from tuner.racing.finalists import MOST_STREAMED, layer_weight_bytes, next_finals, under

NEAR = {"fa3": (256.0, 131.0), "flashinfer": (300.0, 135.0), "triton": (400.0, 260.0)}


def asked(**changes: Any) -> Run:
    return asking(one_cell_each(NEAR, **changes))


def test_who_is_near_the_pick_is_measured_once_more_on_the_heaviest_decode_cell() -> None:
    coming = next_finals(asked())
    assert coming is not None and (coming.index, coming.cell.name) == (0, DECODE)
    assert [arm.backend for arm in coming.arms] == ["fa3", "flashinfer"] and coming.conditions == tuple(Condition)


def test_nobody_asks_for_it_by_default() -> None:
    assert next_finals(one_cell_each(NEAR)) is None


def test_a_pick_without_a_rival_near_it_is_not_measured_again() -> None:
    assert next_finals(asking(one_cell_each({"fa3": (256.0, 131.0), "triton": (400.0, 260.0)}))) is None


def test_a_rival_that_is_served_in_another_way_is_none() -> None:
    assert next_finals(asked(modes={("flashinfer/p1", DECODE): "eager"})) is None


def test_nothing_stands_between_two_eager_launches() -> None:
    eager = {(f"{backend}/p1", DECODE): "eager" for backend in NEAR}
    coming = next_finals(asked(modes=eager))
    assert coming is not None and coming.conditions == (Condition.RANDOM_PAGES,)


def test_pages_that_lie_at_random_already_are_not_shuffled_again() -> None:
    run = asking(one_cell_each(NEAR), Condition.RANDOM_PAGES)
    shuffled = [replace(each, cell=replace(each.cell, page_layout=PageLayout.RANDOM)) for each in run.cells]
    assert next_finals(run) is not None and next_finals(replace(run, cells=tuple(shuffled))) is None


def test_it_ends_after_its_processes_and_with_a_failure() -> None:
    times = {Condition.SANDWICH: {"fa3/p1": 130.0, "flashinfer/p1": 134.0}}
    coming = next_finals(revisited(asked(), times, processes=1))
    assert coming is not None and coming.index == 1
    assert next_finals(revisited(asked(), times, processes=REVISITS)) is None
    failed = Revisit(0, 0, DECODE, STREAM_BYTES, failed="fa3/p1: out of memory: none left")
    assert next_finals(replace(asked(), revisits=(failed,))) is None


def test_what_no_time_was_left_for_is_said() -> None:
    said = left_out(asked(), Budget(60.0))
    assert said == ("the finalists were not measured under other conditions in the 60 s of measure.budget_s",)
    assert left_out(one_cell_each(NEAR), Budget(60.0)) == ()


def test_a_cell_under_a_condition_is_one_of_its_own() -> None:
    cell = decode().cell
    sandwich, shuffled = (under(cell, condition) for condition in Condition)
    assert len({cell.name, sandwich.name, shuffled.name}) == 3
    assert replace(sandwich, name=cell.name) == cell and shuffled.page_layout is PageLayout.RANDOM


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_weights_of_a_layer_are_what_one_rank_reads_of_it(ranks: int) -> None:
    run = asked()
    run = replace(run, scenario=replace(run.scenario, engine=replace(run.scenario.engine, tensor_parallel=ranks)))
    without_vocabulary = MODEL.params_total - 2 * MODEL.vocab_size * MODEL.hidden_size
    assert layer_weight_bytes(run, decode()) == pytest.approx(without_vocabulary * 2 / LAYERS / ranks, rel=1e-6)


def test_no_more_is_streamed_than_it_takes_to_leave_the_cache() -> None:
    run = asked(model=replace(MODEL, params_total=8e11, params_active=8e11))
    assert layer_weight_bytes(run, decode()) == MOST_STREAMED
