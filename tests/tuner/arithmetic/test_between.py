from __future__ import annotations

import math
from itertools import product

import pytest

from backends.cell import Cell
from tests.tuner.building import decode, prefill
from tuner.arithmetic.between import foretold, left_out

GRID = [decode(f"{batch}-{context}", batch, context).cell for batch, context in product((4, 8, 16, 32), (500, 1000, 2000, 4000))]


def linear(cell: Cell, floor_us: float = 0.0) -> float:
    """ln of a time that goes with the keys."""
    return math.log(floor_us + 1e-3 * sum(cell.context_lens))


def test_times_that_go_with_the_work_are_foretold_exactly() -> None:
    at = decode("between", 11, 1700).cell
    assert foretold({cell: linear(cell) for cell in GRID}, at) == pytest.approx(linear(at), abs=1e-9)
    assert all(abs(miss or 0) < 1e-9 for miss in left_out({cell: linear(cell) for cell in GRID}).values())


def test_where_the_curve_bends_the_others_miss_it() -> None:
    """8 us, whatever the work, bend it where the work takes as long: among these cells; 0.1 us do so far below them."""
    bent, straight = ({cell: linear(cell, floor_us) for cell in GRID} for floor_us in (8.0, 0.1))
    worst, hardly = (max(abs(miss) for miss in left_out(each).values() if miss is not None) for each in (bent, straight))
    assert worst > 0.05 > 2 * hardly


def test_nothing_is_foretold_beyond_a_factor_of_two_of_what_was_measured() -> None:
    known = {cell: linear(cell) for cell in GRID}
    assert foretold(known, decode("far", 64, 8000).cell) is not None
    assert foretold(known, decode("further", 65, 8000).cell) is None and foretold(known, decode("longer", 64, 8001).cell) is None
    assert foretold(known, decode("shorter", 4, 249).cell) is None and foretold({}, GRID[0]) is None


def test_prefills_are_foretold_by_their_products_and_short_ones_by_what_they_read() -> None:
    cells = [prefill(f"{new}-{prefix}", new, prefix).cell for new, prefix in product((1024, 2048, 4096), (0, 1000, 4000))]
    quadratic = {cell: math.log(sum(n * (c - n / 2) for n, c in zip(cell.new_lens, cell.context_lens))) for cell in cells}
    assert all(abs(miss) < 0.02 for miss in left_out(quadratic).values() if miss is not None)
    short = [prefill(f"1-{prefix}", 1, prefix).cell for prefix in (500, 1000, 2000)]
    assert all(abs(miss) < 0.02 for miss in left_out({cell: linear(cell) for cell in short}).values() if miss is not None)
