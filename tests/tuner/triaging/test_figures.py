"""Figures that somebody states: read, refused, and said again in words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.errors import UsageError
from tuner.triaging.figure_words import words
from tuner.triaging.figures import Figure
from tuner.triaging.figures_file import figures_of, read_figures


def figure(noise_pct: float = 1.0, **item: Any) -> Figure:
    return figures_of({"noise_pct": noise_pct, "figures": [item]}, "figures.yaml").figures[0]


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"backend": "fa3", "phase": "decode", "metric": "time_us", "before": 100, "after": 300}, "3.00 times as long"),
        (
            {"backend": "fa3", "metric": "time_us", "before": 100, "after": 110},
            "attention, fa3: 100 before, 110 now (time_us), 10 % slower",
        ),
        ({"metric": "tokens_per_s", "before": 100, "after": 80}, "end-to-end: 100 before, 80 now (tokens_per_s), 20 % less"),
        ({"metric": "tokens_per_s", "change_pct": 25}, "25 % more"),
        ({"component": "moe", "change": "slower"}, "moe: slower"),
        ({"component": "moe", "change": "same"}, "moe: the same"),
        ({"metric": "time_us", "before": 100, "after": 101}, "the same within 2.0 %"),
        ({"backend": "fa3", "value": 7}, "attention, fa3: 7.0 (time)"),
        ({"backend": "fa3", "graph": "none", "metric": "wall_us", "added": 20}, "graph none: 20 more now (wall_us)"),
    ],
)
def test_a_figure_is_said_with_its_direction(item: dict[str, Any], said: str) -> None:
    assert words(figure(**item)).endswith(said)


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6), st.floats(0.01, 20))
def test_a_rate_that_falls_is_a_time_that_grows(before: float, after: float, noise: float) -> None:
    time = figure(noise, metric="time_us", before=before, after=after)
    rate = figure(noise, metric="tokens_per_s", before=1 / before, after=1 / after)
    assert time.change is not None and rate.change == pytest.approx(time.change, abs=1e-9)
    assert time.slower + time.still + time.faster == 1
    assert time.slower is (math.log(after / before) > 2 * math.log1p(noise / 100))


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ([], "holds no figures"),
        ({"figures": []}, "holds no figures"),
        ({"figures": [{}], "figure": 1}, "has the key 'figure'; did you mean figures"),
        ({"figures": [3]}, "figure 1 is 3; give metric"),
        ({"figures": [{"before": "fast", "after": 1}]}, "figure 1 has before 'fast'; give a number"),
        ({"figures": [{"before": 0, "after": 1}]}, "a time or rate of 0 or less"),
        ({"figures": [{"change": "worse"}]}, "has change 'worse'"),
        ({"figures": [{}], "boards": ["a"]}, "give two, that of then and that of now"),
    ],
)
def test_what_is_no_figure_is_the_users_to_mend(tree: Any, says: str) -> None:
    with pytest.raises(UsageError) as error:
        figures_of(tree, "figures.yaml")
    assert says in str(error.value)


def test_a_file_that_is_no_yaml_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("figures: [")
    with pytest.raises(UsageError, match="f.yaml is not YAML"):
        read_figures(tmp_path / "f.yaml")
