from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from backends.environment import Environment
from backends.step.shape import LayerShape, RestTimes, StepShape
from store.boards.calibration import LIFE_DAYS
from store.boards.rests import rests_for, save_rest
from store.database.connect import Store, reading
from store.tables.rests import RestRow
from tests.store.building import environment

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SHAPE = StepShape("bfloat16", 64, (LayerShape(3, 64, 16, 16, 64),), 128, 1, 1, 500, 8, 8, 8)
OTHER = replace(SHAPE, rows=16)
HERE = environment()


def times(ms: float, shape: StepShape = SHAPE) -> RestTimes:
    return RestTimes(shape, "graph", (ms, ms), (1.2 * ms, 1.2 * ms))


def test_what_was_measured_of_a_shape_is_found_again_and_other_shapes_are_missing(store: Store) -> None:
    save_rest(store, HERE, 3, times(5.0), NOW)
    assert rests_for(store, HERE, 3, (OTHER, SHAPE, SHAPE), NOW) == (times(5.0),)


def test_the_newest_counts(store: Store) -> None:
    save_rest(store, HERE, 3, times(5.0), NOW)
    save_rest(store, HERE, 3, times(6.0), NOW)
    assert rests_for(store, HERE, 3, (SHAPE,), NOW) == (times(6.0),)


def test_what_is_stored_twice_stands_there_once(store: Store) -> None:
    for _ in range(2):  # as where a server goes away before it confirms
        save_rest(store, HERE, 3, times(5.0), NOW)
    with reading(store) as session:
        assert session.scalar(select(func.count()).select_from(RestRow)) == 1


@pytest.mark.parametrize(
    "moved",
    [
        lambda e: replace(e, torch="2.99"),
        lambda e: replace(e, board=replace(e.board, uuid="GPU-other")),
        lambda e: replace(e, board=replace(e.board, power_limit_w=350.0)),
        lambda e: replace(e, board=replace(e.board, driver="999")),
    ],
)
def test_another_board_driver_power_limit_or_torch_knows_nothing_of_it(store: Store, moved: Callable[[Environment], Environment]) -> None:
    save_rest(store, HERE, 3, times(5.0), NOW)
    assert rests_for(store, moved(HERE), 3, (SHAPE,), NOW) == ()


def test_it_grows_old_and_is_of_its_protocol(store: Store) -> None:
    save_rest(store, HERE, 3, times(5.0), NOW)
    assert rests_for(store, HERE, 3, (SHAPE,), NOW + timedelta(days=LIFE_DAYS, seconds=1)) == ()
    assert rests_for(store, HERE, 4, (SHAPE,), NOW) == ()
