from __future__ import annotations

from reports.columns import fitted_table
from reports.page import Table


def test_a_narrow_table_is_left_as_it_is() -> None:
    assert fitted_table(Table(("a", "b"), (("1", "22"),))) == "  a  b\n  1  22"


def test_the_widest_column_gives_way_and_goes_on_below() -> None:
    table = Table(("name", "words"), (("x", "one two three four"), ("y", "five")))
    lines = ["name  words", "x     one two", "      three", "      four", "y     five"]
    assert fitted_table(table, indent="", width=15).splitlines() == lines


def test_a_long_word_is_never_broken() -> None:
    assert "abcdefghijklmnop" in fitted_table(Table(("a",), (("abcdefghijklmnop q",),)), width=8)


def test_an_empty_cell_keeps_its_column() -> None:
    lines = fitted_table(Table(("a", "b"), (("", "2"),)), indent="").splitlines()
    assert lines == ["a  b", "   2"]
