"""The best pair of two backends beside the best single one."""

from __future__ import annotations

from reports import split as said
from store.decision import Pair
from tests.tuner.building import one_cell_each
from tuner.decide import decide


def test_what_a_split_buys_is_the_step_s_gain_over_the_best_single_backend() -> None:
    found = decide(one_cell_each({"fa3": (300.0, 300.0), "flashinfer": (900.0, 100.0), "triton": (310.0, 290.0)}))
    assert found.split is not None and found.split.ratio is not None
    assert found.split.pair == found.pick == Pair("fa3/p1", "flashinfer/p1")
    assert found.split.single != found.split.pair and found.split.ratio.high < 1
    assert found.split.step_gain_low is not None and found.split.step_gain_low > 0
    assert "by splitting a step is" in said.line(found) and "faster" in said.line(found)


def test_a_split_that_loses_is_shown_as_a_loss() -> None:
    found = decide(one_cell_each({"fa3": (300.0, 100.0), "flashinfer": (400.0, 150.0)}))
    assert found.split is not None and found.split.single == found.default
    assert found.split.step_gain_high is not None and found.split.step_gain_high < 0
    assert "slower" in said.line(found)


def test_a_run_of_one_backend_has_nothing_to_split() -> None:
    found = decide(one_cell_each({"fa3": (300.0, 100.0)}))
    assert found.split is None and said.line(found) == ""
