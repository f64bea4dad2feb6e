"""The search for a turn, on rows of releases whose truth is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.verdicts.bisection import Turn
from tuner.bisecting.search import turn


class Row:
    """``first`` is the place of the first release that turned; those of ``silent`` places do not answer."""

    def __init__(self, length: int, first: int, silent: frozenset[int]) -> None:
        self.releases = [f"0.{place}" for place in range(length)]
        self.first = first
        self.silent = silent
        self.asked: list[int] = []

    def turned(self, release: str) -> bool | None:
        place = self.releases.index(release)
        self.asked.append(place)
        return None if place in self.silent else place >= self.first

    def found(self) -> Turn:
        return turn(self.releases, self.turned)


@st.composite
def rows(draw: st.DrawFn, silent: bool = True) -> Row:
    length = draw(st.integers(2, 60))
    first = draw(st.integers(1, length - 1))
    places = st.sampled_from(range(1, length - 1)) if length > 2 else st.nothing()
    return Row(length, first, draw(st.frozensets(places)) if silent and length > 2 else frozenset())


@given(rows(silent=False))
def test_the_first_that_turned_is_found_where_every_release_answers(row: Row) -> None:
    assert row.found() == Turn(row.releases[row.first - 1], (row.releases[row.first],))


@given(rows())
def test_what_is_named_is_all_that_fits_the_answers_and_no_more(row: Row) -> None:
    found = row.found()
    answers = [place for place in range(len(row.releases)) if place not in row.silent]
    fitting = [first for first in range(1, len(row.releases)) if all((place >= first) == (place >= row.first) for place in answers)]
    assert found.first == tuple(row.releases[place] for place in fitting)
    assert found.exact == (len(fitting) == 1) and found.before == row.releases[fitting[0] - 1]


@given(rows())
def test_no_more_are_asked_than_halving_takes_and_one_for_each_that_says_nothing(row: Row) -> None:
    row.found()
    silent = sum(place in row.silent for place in row.asked)
    assert len(row.asked) - silent <= math.ceil(math.log2(len(row.releases) - 1)) and len(set(row.asked)) == len(row.asked)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_in_a_row_that_turns_back_and_forth_what_is_found_is_a_turn(between: list[bool]) -> None:
    truth = [False, *between, True]
    releases = [str(place) for place in range(len(truth))]
    found = turn(releases, lambda release: truth[int(release)])
    assert truth[int(found.before)] is False and [truth[int(each)] for each in found.first] == [True]


@given(length=st.integers(4, 40), data=st.data())
def test_one_bad_stretch_is_found_by_its_two_ends(length: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, length - 2))
    again = data.draw(st.integers(first + 1, length - 1))
    bad = data.draw(st.integers(first, again - 1))
    releases = [str(place) for place in range(length)]
    start = turn(releases[: bad + 1], lambda release: first <= int(release) < again)
    end = turn(releases[bad:], lambda release: not first <= int(release) < again)
    assert (start.first, end.first) == ((str(first),), (str(again),))


@pytest.mark.parametrize("length", [2, 3])
def test_neighbours_need_no_question(length: int) -> None:
    row = Row(length, 1, frozenset())
    assert row.found().exact and len(row.asked) == length - 2
