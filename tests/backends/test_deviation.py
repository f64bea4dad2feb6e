from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Cell, Phase
from backends.deviation import Deviation, Step, known_on, step_of
from tests.backends.small import LAYER, WINDOWED, decode, prefill

SHORT = Deviation("sees one key fewer", ("window",), (Step.DECODE,), -1, "made up")
BLIND = Deviation("sees no window", ("window",), (Step.FRESH, Step.PREFIX), None, "made up")
SUMS = Deviation("sums narrowly", ("full",), (Step.DECODE,), 0, "made up", narrow_sums=True)
WINDOW = WINDOWED.sliding_window or 0
VERIFY = replace(prefill((40, 2), layer=WINDOWED), draft=(-1, 0))


@pytest.mark.parametrize(
    ("cell", "step"),
    [
        (decode(40), Step.DECODE),
        (prefill((0, 40), (0, 3)), Step.FRESH),
        (prefill((0, 40), (9, 3)), Step.PREFIX),
        (VERIFY, Step.VERIFY),
        (replace(VERIFY, phase=Phase.DECODE), Step.VERIFY),
    ],
)
def test_a_cell_is_a_step_of_one_kind(cell: Cell, step: Step) -> None:
    assert step_of(cell) is step


@pytest.mark.parametrize(
    ("cell", "concerned"),
    [
        (decode(40, layer=WINDOWED), True),
        (decode(40), False),
        (decode(40, layer=replace(LAYER, name="window")), False),
        (decode(40, layer=replace(WINDOWED, name="other")), False),
        (prefill((0, 40), layer=WINDOWED), False),
        (replace(VERIFY, phase=Phase.DECODE), False),
    ],
)
def test_it_concerns_the_layers_and_the_steps_that_it_names(cell: Cell, concerned: bool) -> None:
    assert SHORT.concerns(cell) is concerned


@pytest.mark.parametrize(("context", "shows"), [(WINDOW - 1, False), (WINDOW, True), (WINDOW + 1, True)])
def test_one_key_fewer_shows_from_a_whole_window_on(context: int, shows: bool) -> None:
    assert SHORT.shows_on(decode(1, context, layer=WINDOWED)) is shows


@pytest.mark.parametrize(("context", "shows"), [(WINDOW, False), (WINDOW + 1, True)])
def test_a_window_that_is_not_looked_at_shows_beyond_it(context: int, shows: bool) -> None:
    assert BLIND.shows_on(prefill((0, context), layer=WINDOWED)) is shows


def test_it_is_known_where_it_shows_and_says_by_how_much() -> None:
    long, short = decode(WINDOW, layer=WINDOWED), decode(2, layer=WINDOWED)
    assert known_on((BLIND, SHORT), long) is SHORT and known_on((BLIND, SHORT), short) is None and known_on((), long) is None
    assert SHORT.in_numbers(long) == f"{WINDOW - 1} keys where the window has {WINDOW}"
    assert BLIND.in_numbers(prefill((0, 99), layer=WINDOWED)) == f"all keys where the window has {WINDOW}"


def test_a_window_of_one_key_is_left_its_key() -> None:
    assert SHORT.applied(decode(9, layer=replace(WINDOWED, sliding_window=1))).layer.sliding_window == 1


@pytest.mark.parametrize(
    ("cell", "shows"),
    [
        (decode(2, dtype="bfloat16"), True),
        (decode(2, dtype="float16"), True),
        (decode(2), False),  # float32
        (decode(1, 1, dtype="bfloat16"), False),
        (prefill((0, 40), dtype="bfloat16"), False),
        (decode(2, dtype="bfloat16", layer=replace(LAYER, name="other")), False),
    ],
)
def test_narrow_sums_show_wherever_a_query_of_sixteen_bits_sees_several_keys(cell: Cell, shows: bool) -> None:
    assert SUMS.shows_on(cell) is shows


def test_narrow_sums_leave_the_cell_as_it_is_and_say_what_is_summed() -> None:
    cell = decode(9, dtype="bfloat16")
    assert SUMS.applied(cell) == cell and SUMS.in_numbers(cell) == f"sums of {LAYER.head_dim} products in bfloat16"
