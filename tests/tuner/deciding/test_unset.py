"""Why nothing is pinned, on a recorded run: of DeepSeek-V3, whose faster decode arm is barred by a guard and whose slow one left."""

from __future__ import annotations

import pytest

from reports import choice, headline
from store.decision import Decision
from store.runs.run import Run
from tests.examples import EXAMPLES, stored
from tuner.decide import decide


@pytest.fixture(scope="module")
def run() -> Run:
    return stored(EXAMPLES / "deepseek_v3-tp8-h200")[1]


@pytest.fixture(scope="module")
def found(run: Run) -> Decision:
    return decide(run)


def test_a_pair_that_left_the_race_is_not_called_the_nearest_where_a_faster_one_may_not_be_picked(found: Decision) -> None:
    alone = choice.kept_out_alone(score for score in found.scores if score.pair != found.default)
    assert alone is not None and alone.barred is not None and (alone.pair.prefill, alone.pair.decode) == ("fa3/p1", "flashinfer/p1")
    said = str(found.unset_because)
    assert said.startswith("unset, because no arm that may be picked beat the default") and "triton" not in said
    assert "prefill fa3, decode flashinfer would make a step " in said and "on decode-longest" in said and said.count("decode-longest") == 1


def test_nothing_that_left_the_race_is_named_as_what_was_given_up(run: Run, found: Decision) -> None:
    assert choice.runner_up(found) is None and headline.instead_of(run, found) == ""


def test_where_every_pair_but_barred_ones_that_left_is_gone_none_is_kept_out_alone(found: Decision) -> None:
    scores = [score for score in found.scores if score.barred is None or score.dropped is not None]
    assert choice.kept_out_alone(score for score in scores if score.pair != found.default) is None
