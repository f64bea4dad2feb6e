"""Every number behind a decision, worked out from what is stored."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from reports import explanation
from reports.explanation import of_verdicts, render_json, render_markdown, render_text
from store.evidence.run_evidence import reduced
from store.runs.run import Run
from store.verdicts.comparison import Comparison, Explanation
from tests.tuner.building import DECIDE, one_cell_each
from tests.tuner.deciding.test_ceiling import small
from tests.tuner.racing.playing import play, started
from tuner.decide import decide
from tuner.deciding.explanation import explain
from tuner.verdicts.rule import rule_for
from tuner.verdicts.side_by_side import verdicts

TIMES = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0), "triton": (900.0, 150.0)}
RUN = play(started(TIMES))


def question(run: Run, words: str) -> Explanation:
    (found,) = [each for each in explain(run) if words in each.question]
    return found


def test_the_questions_stand_in_the_order_in_which_they_were_put() -> None:
    starts = (
        "Which pairs may be the best?",
        "How much attention time",
        "Does prefill fa3, decode flashinfer lose",
        "What is tied?",
        "Does the pick hold",
    )
    asked = [each.question for each in explain(RUN)]
    assert len(asked) == len(starts) and all(question.startswith(start) for question, start in zip(asked, starts))


def test_each_comparison_is_the_decisions_own() -> None:
    found = {numbers.what: numbers for numbers, _ in question(RUN, "How much attention").answers}
    ratio = decide(RUN).chosen_at
    numbers = found["prefill fa3, decode flashinfer / fa3"]
    assert ratio and (math.exp(numbers.low), math.exp(numbers.estimate), math.exp(numbers.high)) == pytest.approx(
        (ratio.low, ratio.estimate, ratio.high)
    )
    assert (numbers.rounds, numbers.df) == (4, 3) and numbers.confidence == pytest.approx(ratio.confidence)
    assert numbers.low == pytest.approx(numbers.estimate - numbers.threshold * numbers.standard_error)


def test_the_error_spent_is_shared_by_looks_and_comparisons() -> None:
    alphas = {numbers.alpha for numbers, _ in question(RUN, "Which pairs").answers}
    assert alphas == {0.01 / (3 * 4)}  # three looks, two rivals in each of two phases


def test_who_left_early_is_named_without_a_test() -> None:
    notes = question(RUN, "Which pairs").notes
    assert any(note.startswith("triton left the race after 1 process: in decode triton takes 1.") for note in notes)
    assert notes[-1] == "may be the best: flashinfer; prefill fa3, decode flashinfer"


def test_what_was_measured_again_pools_its_spread_with_the_race() -> None:
    ((numbers, answer),) = question(RUN, "Does the pick hold").answers
    assert (numbers.rounds, numbers.df, answer) == (2, 4, "measured again")


def test_ties_are_tested_against_their_margin() -> None:
    run = one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (500.0, 100.0)}, process_sd=0.0005)
    answers = question(run, "What is tied?").answers
    assert answers and {answer for _, answer in answers} == {"tied"}
    assert all(numbers.margin == pytest.approx(math.log1p(DECIDE.tie_margin)) for numbers, _ in answers)


def test_a_run_that_nothing_could_be_won_in_says_just_that() -> None:
    (only,) = explain(small())
    assert only.question == "Could any kernel win enough?" and "would win at most" in only.notes[0] and not only.answers


def test_evidence_explains_itself_as_the_store_does() -> None:
    for one, other in zip(explain(RUN), explain(reduced(RUN))):
        assert one.question == other.question and one.notes == other.notes
        for (numbers, _), (again, _) in zip(one.answers, other.answers):
            assert numbers.estimate == pytest.approx(again.estimate, abs=1e-12)


def test_a_text_shows_estimate_error_freedom_alpha_threshold_margin_and_what_was_detectable() -> None:
    numbers = Comparison(
        "a / b", math.log(1.03), 0.0021, 5, 6, 0.0025, 4.77, math.log(1.02), 0.0334, 0.98, math.log(1.021), math.log(1.039)
    )
    text = render_text((Explanation("Is it slower?", ((numbers, "regressed"),), ("a note",)),))
    assert text.splitlines()[3:] == [
        "Is it slower?",
        "  a note",
        "  new / old  ratio  SE      df    processes  alpha    t     margin  interval               detectable  answer",
        "  a / b      1.030  0.21 %  5.00  6          2.5e-03  4.77  2.0 %   1.021 to 1.039 (98 %)  3.3 %       regressed",
    ]
    assert text.startswith("\n".join(explanation.NOTES))


def test_markdown_and_json_hold_the_same() -> None:
    found = explain(RUN)
    assert all(each.question.partition(",")[0] in render_markdown(found) for each in found)
    assert [each["question"] for each in json.loads(render_json(found))] == [each.question for each in found]


def test_verdicts_on_two_versions_are_explained_by_the_same_table() -> None:
    d = np.random.default_rng(1).normal((0.0, 0.05), 0.002, (6, 2))
    text = render_text((of_verdicts("Did anything change?", verdicts(d, ["decode", "prefill"], rule_for("gate"))),))
    assert "decode" in text and "equivalent" in text and "regressed" in text
    open_ = verdicts(replace_noise(d), ["decode", "prefill"], rule_for("gate"))
    assert "inconclusive: open" in render_text((of_verdicts("And now?", open_),))


def replace_noise(d: np.ndarray) -> np.ndarray:
    return d + np.array([[0.05], [-0.05]] * 3)


def test_a_run_without_a_default_is_explained_without_it() -> None:
    run = replace(one_cell_each(TIMES), trials=tuple(trial for trial in one_cell_each(TIMES).trials if not trial.arm.startswith("fa3")))
    assert all("against the default" not in each.question for each in explain(run))
