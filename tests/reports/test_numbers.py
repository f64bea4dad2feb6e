from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import numbers
from store.decision import Interval


@pytest.mark.parametrize(
    ("us", "shown"),
    [
        (44.3712, "44.37 us"),
        (1136.81, "1137 us"),
        (9999.4, "9999 us"),
        (9999.6, "10.00 ms"),
        (16800.0, "16.80 ms"),
        (123456.0, "123.5 ms"),
        (9.99996, "10.00 us"),
        (0.01234567, "0.01235 us"),
        (0.0, "0 us"),
    ],
)
def test_a_time_has_four_significant_digits(us: float, shown: str) -> None:
    assert numbers.microseconds(us) == shown


@pytest.mark.parametrize(("s", "shown"), [(6.5, "6.50 s"), (93.42, "93.4 s"), (899.0, "899 s"), (3661.0, "61 min"), (39_600.0, "11.0 h")])
def test_wall_time_turns_into_minutes_after_a_quarter_of_an_hour_and_into_hours_after_ten(s: float, shown: str) -> None:
    assert numbers.seconds(s) == shown


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [
        (0.0163, "1.6 % slower"),
        (-0.0042, "0.42 % faster"),
        (0.123, "12 % slower"),
        (-0.00001, "unchanged"),
        (0.0, "unchanged"),
        (0.00996, "1.0 % slower"),
    ],
)
def test_a_change_of_a_time_says_in_a_word_which_way_it_goes(fraction: float, shown: str) -> None:
    assert numbers.change(fraction) == shown


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (-0.031, -0.016, "1.6 % to 3.1 % faster"),
        (0.0079, 0.021, "0.79 % to 2.1 % slower"),
        (-0.012, 0.003, "1.2 % faster to 0.30 % slower"),
        (0.0, 0.021, "0 % to 2.1 % slower"),
        (-0.021, 0.0, "0 % to 2.1 % faster"),
        (0.0, 0.0, "unchanged"),
        (-0.02101, -0.02099, "2.1 % faster"),
        (0.5, 67670.0, "50 % to over 1000 % slower"),
    ],
)
def test_a_range_of_changes_has_the_smaller_end_first_and_each_side_of_none_its_word(low: float, high: float, shown: str) -> None:
    assert numbers.change_range(low, high) == shown


@given(st.floats(-0.9, 9.0), st.floats(-0.9, 9.0))
def test_no_change_carries_a_sign(one: float, two: float) -> None:
    assert not re.search(r"[-+]\d", numbers.change_range(min(one, two), max(one, two)))


def test_a_ratio_comes_with_its_interval() -> None:
    assert numbers.interval(Interval(0.9493, 0.9412, 0.957, 0.95, 4)) == "0.949 (0.941 to 0.957)"
    assert numbers.ratio(12.8734) == "12.87"


def test_a_corrected_confidence_keeps_its_digits() -> None:
    assert (numbers.level(0.95), numbers.level(0.9875)) == ("95 %", "98.75 %")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_said_in_words(value: float) -> None:
    for show in (numbers.microseconds, numbers.milliseconds, numbers.ratio, numbers.change, numbers.percent, numbers.small):
        assert show(value).startswith("not finite")


@given(st.floats(min_value=1e-6, max_value=1e9), st.integers(min_value=1, max_value=6))
def test_significant_digits_are_right_to_half_a_unit_of_the_last(value: float, digits: int) -> None:
    shown = float(numbers.significant(value, digits))
    assert abs(shown - value) <= value * 0.5000001 * 10.0 ** (1 - digits)
    assert "e" not in numbers.significant(value, digits)


def test_a_percentage_beyond_all_reading_is_only_bounded() -> None:
    assert numbers.percent(-6767057.06) == "below -1000 %"
    assert numbers.change(12.0) == "over 1000 % slower"
    assert numbers.percent(9.99) == "999 %"


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (8.3, 24.4, "takes 8.3 to 24 times as long"),
        (3.04, 3.01, "takes 3.0 times as long"),
        (0.5, 0.2, "is 2.0 to 5.0 times as fast"),
        (1.031, 1.054, "is 3.1 % to 5.4 % slower"),
        (0.95, 0.9, "is 5.0 % to 10 % faster"),
        (1.2, 3.0, "takes 1.2 to 3.0 times as long"),
    ],
)
def test_a_change_of_twice_the_time_and_more_is_said_in_times(least: float, most: float, said: str) -> None:
    assert numbers.moved(math.log(least), math.log(most)) == said
