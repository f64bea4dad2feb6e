from __future__ import annotations

from backends.checks.rows import choose_rows, spread
from tests.backends.small import decode, prefill


def test_everything_is_checked_when_it_is_cheap() -> None:
    chosen = choose_rows(prefill((3, 2), (0, 4)), pairs=1 << 20)
    assert {part.request: (part.rows, part.positions) for part in chosen} == {0: ((0, 1), (3, 4)), 1: ((2, 3, 4, 5), (0, 1, 2, 3))}


def test_a_sample_of_requests_keeps_the_shortest_and_the_longest() -> None:
    cell = decode(50, 10, 400, 30, 20, 60, 70)
    chosen = choose_rows(cell, pairs=3 * 400 * 8)
    assert [part.request for part in chosen][0] == 1 and [part.request for part in chosen][-1] == 2
    assert len(chosen) == 3


def test_a_sample_of_rows_keeps_the_first_and_the_last_new_token() -> None:
    (part,) = choose_rows(prefill((100, 1000)), pairs=5 * 1100 * 8)
    assert (part.rows[0], part.rows[-1], len(part.rows)) == (0, 999, 5)
    assert (part.positions[0], part.positions[-1]) == (100, 1099)


def test_places_are_spread_evenly_with_both_ends() -> None:
    assert spread(10, 4) == [0, 3, 6, 9]
    assert spread(3, 5) == [0, 1, 2]
