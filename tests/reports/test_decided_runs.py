"""The reports over what `tuner.decide` really decides, for runs of every ending."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from backends.outcome import Outcome
from reports import justification, run_report, summary
from store.pins.pin import Pin
from store.runs.run import Run
from tests.reports.evidence import strange_numbers
from tests.tuner import building
from tests.tuner.deciding.test_ceiling import small
from tests.tuner.deciding.test_confirmation import slowed
from tests.tuner.racing.playing import play, started
from tuner.decide import decide
from tuner.pin import pin_of

TIMES = {"fa3": (256.0, 131.0), "flashinfer": (300.0, 119.0), "triton": (400.0, 140.0)}
NO_DEFAULT = {("fa3/p1", building.DECODE): (Outcome.CRASHED, "signal 11 in /opt/venv/lib/flash.so")}
EAGER = {("triton/p1", building.DECODE): "eager"}
RACE = play(started(TIMES))


def decided(run: Run, without_default: bool = False) -> Run:
    decision = decide(run, without_default=without_default)
    return replace(run, decision=decision, status=decision.ruling.value)


RUNS = {
    "a switch of one phase": decided(building.one_cell_each(TIMES)),
    "a switch of both": decided(building.one_cell_each({**TIMES, "flashinfer": (200.0, 119.0)})),
    "a tie": decided(building.one_cell_each({**TIMES, "flashinfer": (300.0, 130.5)})),
    "one process": decided(building.one_cell_each(TIMES, processes=1)),
    "an eager rival": decided(building.one_cell_each(TIMES, modes=EAGER)),
    "a choice of the user's": decided(building.one_cell_each(TIMES, engine=replace(building.ENGINE, attention_backend="fa3"))),
    "a pin without the default": decided(building.one_cell_each(TIMES, failures=NO_DEFAULT), without_default=True),
    "a pick measured again": decided(RACE),
    "a pick that did not hold": decided(slowed(RACE, 1.25)),
    "a race of which one arm is left": decided(play(started({**TIMES, "flashinfer": (300.0, 160.0)}))),
    "nothing to win": decided(small()),
}
INCOMPLETE = decided(building.one_cell_each(TIMES, failures=NO_DEFAULT))


def pin_for(run: Run) -> Pin:
    assert run.decision is not None
    return pin_of(run, run.decision, ("pin.evidence.jsonl.zst", "ab12"))


@pytest.mark.parametrize("ending", RUNS)
def test_the_first_screen_stays_a_screen_and_every_number_is_of_the_record(ending: str) -> None:
    run = RUNS[ending]
    text = justification.render(pin_for(run), run)
    assert len(text.partition("\n<details>")[0].splitlines()) <= 15
    assert strange_numbers(text, run, pin_for(run)) == set()


@pytest.mark.parametrize("ending", RUNS)
def test_the_summary_fits_a_terminal_and_every_number_is_of_the_record(ending: str) -> None:
    text = summary.render(RUNS[ending], pin_for(RUNS[ending]), "pin.yaml")
    assert len(text.splitlines()) <= 40
    assert strange_numbers(text, RUNS[ending], pin_for(RUNS[ending])) == set()


@pytest.mark.parametrize("run", [*RUNS.values(), INCOMPLETE])
def test_no_report_shows_a_path_or_a_value_that_is_none(run: Run) -> None:
    for text in (run_report.render_text(run), run_report.render_markdown(run), summary.render(run, None, None)):
        assert not re.search(r"/opt|\b(?:None|nan|inf)\b|\$|\{", text)


def test_one_process_gives_no_interval_and_says_so() -> None:
    assert "About: one process timed both, so there is no interval and no rank;" in run_report.render_text(RUNS["one process"])


def test_an_eager_arm_stands_apart_from_the_graph_replays() -> None:
    sections = run_report.render_text(RUNS["an eager rival"]).split("\n\n")
    graph = next(section for section in sections if section.startswith("Arms x cells: decode, graph"))
    eager = next(section for section in sections if section.startswith("Arms x cells: decode, eager"))
    assert "triton/p1" not in graph and re.search(r"triton/p1 .* not ranked", eager)


def test_a_pin_that_keeps_what_the_user_chose_says_the_flag_to_set_and_why_there_is_no_other() -> None:
    run = RUNS["a choice of the user's"]
    text = summary.render(run, pin_for(run), "pin.yaml")
    assert "flags     --attention-backend fa3\n" in text and "--attention-backend: prefill+decode: " in text
    assert "more      no other flag, because no other pair may be picked; " in text and "next      attnpin export --pin" in text
    screen = justification.render(pin_for(run), run).partition("<details>")[0]
    assert "**Decision**: keep --attention-backend fa3, as you chose, and no other flag, because no other pair may be picked; " in screen
    assert pin_for(run).unset is None


def test_a_pick_says_that_it_was_measured_after_the_choice_and_at_what_it_was_chosen() -> None:
    text = run_report.render_text(RUNS["a pick measured again"])
    assert re.search(
        r"95 % interval over 2 fresh processes; measured after the choice, which was made at 0\.\d+ \(0\.\d+ to 0\.\d+\) over 4 others",
        text,
    )
    assert "processes after the choice  2" in text and re.search(r"processes +4 of at most 8", text)


def test_pairs_that_left_the_race_are_shown_with_when_and_why() -> None:
    text = run_report.render_text(RUNS["a pick measured again"])
    assert "Left the race early" in text and re.search(
        r"triton/p1 +left the race after 1 process: in prefill triton/p1 takes 1\.5\d\d times", text
    )
    assert re.search(r"triton/p1 .* left the race$", text, re.MULTILINE)


def test_where_every_rival_left_the_nearest_is_named_with_what_beat_it() -> None:
    text = summary.render(RUNS["a race of which one arm is left"], None, None)
    assert "no arm beat the default: " in text and "left the race after 1 process" in text


def test_pairs_that_may_not_be_picked_stand_in_no_headline() -> None:
    run = decided(building.one_cell_each({"fa3": (256.0, 131.0), "triton": (900.0, 500.0)}))
    assert run.decision and all(score.barred for score in run.decision.scores if score.pair != run.decision.default)
    for text in (summary.render(run, pin_for(run), "pin.yaml"), justification.render(pin_for(run), run)):
        answer = text.partition("\n  cell")[0].partition("<details>")[0]
        assert "with triton in either phase a step is at least " in answer
        assert not any(words in answer for words in ("prefill fa3, decode triton", "prefill triton, decode fa3", "it would be"))
