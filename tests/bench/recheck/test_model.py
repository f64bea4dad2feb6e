"""What a check is foretold to take, on a run whose processes take known times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store.runs.run import Run
from tests.bench.recheck.model import cost
from tests.bench.recheck.page import PROFILES, most, render
from tests.tuner.checking.upgraded import TIMES, then
from tuner.arithmetic.looks import RANKING

PROBE_S, ROUND_S = 20.0, 10.0


@pytest.fixture(scope="module")
def run() -> Run:
    """Three arms whose probes took alike, and four rounds of all of them; the default stays."""
    made = then({**TIMES, "flashinfer": (520.0, 150.0)}, asked=4)
    spent = (("timing", 3 * PROBE_S + 4 * ROUND_S), ("waiting", 99.0))
    trials = tuple(replace(trial, build_s=None, capture_s=None) for trial in made.trials)
    rounds = tuple(replace(each, seconds=(("timing", ROUND_S),)) for each in made.rounds)
    return replace(made, wall_seconds=spent, trials=trials, rounds=rounds)


def test_what_is_in_question_alone_is_probed_and_every_round_has_its_controls(run: Run) -> None:
    found = cost(run, 4, everything=False)
    assert found.tune_s == pytest.approx(3 * PROBE_S + 4 * ROUND_S)
    assert found.same_code_s == pytest.approx(PROBE_S)
    assert found.timed_s == pytest.approx(PROBE_S + RANKING[0] * ROUND_S)


def test_a_longer_profile_makes_the_tune_longer_and_the_check_only_where_rivals_changed(run: Run) -> None:
    assert cost(run, 14, everything=False).tune_s == pytest.approx(3 * PROBE_S + 14 * ROUND_S)
    assert cost(run, 14, everything=False).timed_s == cost(run, 4, everything=False).timed_s
    assert cost(run, 14, everything=True).timed_s <= cost(run, 14, everything=True).tune_s


def test_the_page_has_a_line_a_profile(run: Run) -> None:
    lines = [line for line in render([("a pin", run)]).splitlines() if line.startswith("| ") and "%" in line]
    assert len(lines) == len(PROFILES) and lines[0].startswith("| a pin | quick | 100 s | 20.0 s, 20 % |")
    assert [most(profile) for profile in PROFILES] == [4, 8, 14]


def test_the_aims_of_a_run_on_this_machine_are_those_of_the_page() -> None:
    here = Path(__file__).parent
    assert "aims import" in (here / "__main__.py").read_text() and "aims import" in (here / "page.py").read_text()
