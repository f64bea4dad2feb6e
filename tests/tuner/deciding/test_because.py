"""One line beside each flag."""

from __future__ import annotations

from tests.tuner.building import one_cell_each
from tuner.decide import decide
from tuner.deciding.because import LIMIT, fitted


def test_parts_are_added_as_long_as_the_line_lasts() -> None:
    assert fitted("a" * 100, "b" * 60) == "a" * 100 + "b" * 60
    assert fitted("a" * 100, "b" * 61, "c") == "a" * 100


def test_a_first_part_that_is_too_long_is_cut() -> None:
    assert fitted("a" * 200) == "a" * LIMIT


def test_a_switched_flag_says_against_whom_and_what_the_step_gains() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (722, 35)}))
    line, score = dict(found.because)["decode-attention-backend"], found.scores[0]
    assert score.step_gain_low is not None and score.step_gain_high is not None
    assert "fa3 takes" in line
    assert f"; a step {100 * score.step_gain_low:.0f} % to {100 * score.step_gain_high:.0f} % faster, predicted" in line


def test_a_kept_flag_says_why_the_other_phase_s_arm_is_not_taken_for_both() -> None:
    line = dict(decide(one_cell_each({"fa3": (554, 98), "flashinfer": (722, 35), "triton": (600, 90)})).because)[
        "prefill-attention-backend"
    ]
    assert "flashinfer takes 1.3" in line
    assert line.endswith("; the default here, kept")
