from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.errors import UsageError
from tuner.spans import seconds_of, words, written


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("15m", 900), ("2h", 7200), ("1h30m", 5400), ("0.5h", 1800)])
def test_a_span_is_read_as_it_is_written(text: str, seconds: float) -> None:
    assert seconds_of(text, "key") == seconds


@given(st.integers(1, 10_000_000))
def test_a_span_is_written_as_it_is_read(milliseconds: int) -> None:
    for seconds in (milliseconds, milliseconds / 1000):
        assert seconds_of(written(seconds), "key") == pytest.approx(seconds, rel=1e-9)
    assert (written(14_400), written(90), written(0.2)) == ("4h", "90s", "0.2s")


@pytest.mark.parametrize("text", ["90", "2 h", "2d", "-5m", "", "h"])
def test_anything_else_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        seconds_of(text, "wait_for_gpu")
    assert str(caught.value) == f"wait_for_gpu={text} is no span of time; write a number with its unit: 90s, 15m or 2h"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.1, "0.1 s"),
        (0.25, "0.25 s"),
        (1, "1 s"),
        (90, "90 s"),
        (150, "2 min 30 s"),
        (900, "15 min"),
        (929, "15 min"),
        (7200, "2 h"),
        (9000, "2 h 30 min"),
    ],
)
def test_a_span_is_said_in_a_readers_units(seconds: float, said: str) -> None:
    assert words(seconds) == said
