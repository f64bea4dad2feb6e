"""Why nothing is pinned, on a recorded run: of DeepSeek-V3, whose faster decode arm is barred by a guard and whose slow one left."""

from __future__ import annotations

from reports import choice, headline
from tests.examples import EXAMPLES, stored
from tuner.decide import decide

RUN = stored(EXAMPLES / "deepseek_v3-tp8-h200")[1]


def test_a_pair_that_left_the_race_is_not_called_the_nearest_where_a_faster_one_may_not_be_picked() -> None:
    found = decide(RUN)
    alone = choice.kept_out_alone(score for score in found.scores if score.pair != found.default)
    assert alone is not None and alone.barred is not None and (alone.pair.prefill, alone.pair.decode) == ("fa3/p1", "flashinfer/p1")
    said = str(found.unset_because)
    assert said.startswith("unset, because no arm that may be picked beat the default") and "triton" not in said
    assert "prefill fa3, decode flashinfer would make a step " in said and "on decode-longest" in said and said.count("decode-longest") == 1


def test_nothing_that_left_the_race_is_named_as_what_was_given_up() -> None:
    found = decide(RUN)
    assert choice.runner_up(found) is None and headline.instead_of(RUN, found) == ""


def test_without_the_barred_pair_the_one_that_left_is_named() -> None:
    scores = [score for score in decide(RUN).scores if score.barred is None or score.dropped is not None]
    assert choice.kept_out_alone(score for score in scores if score.pair != decide(RUN).default) is None
