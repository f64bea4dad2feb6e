from __future__ import annotations

import re
from dataclasses import replace

import pytest

from backends.outcome import Outcome
from reports import justification, run_report
from store.decision import Decision
from store.runs.run import Run
from tests.reports import building
from tests.reports.evidence import strange_numbers, unescaped

RUNS = [
    building.run(building.decision()),
    building.run(building.kept()),
    building.run(building.incomplete(), "incomplete"),
    building.run(None, "running"),
    replace(building.run(None, "running"), trials=(), rounds=(), exclusions=(), wall_seconds=()),
]
WORDS = re.compile(r"[\w.%/]+")


@pytest.mark.parametrize("run", RUNS)
def test_text_and_markdown_say_the_same(run: Run) -> None:
    plain = WORDS.findall(run_report.render_text(run))
    dressed = re.sub(r"</?(?:details|summary)>|```(?:sh)?|-{3,}", " ", unescaped(run_report.render_markdown(run)))
    assert WORDS.findall(dressed) == plain


@pytest.mark.parametrize("run", RUNS)
def test_every_number_is_one_of_the_run(run: Run) -> None:
    assert strange_numbers(run_report.render_text(run), run) == set()


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("render", [run_report.render_text, run_report.render_markdown])
def test_nothing_shows_where_it_was_made_nor_a_value_that_is_none(run: Run, render: object) -> None:
    text = render(run)  # type: ignore[operator]
    for word in ("/home", "alice", "gpu07", "example.net", "bob", "pw@"):
        assert word not in text
    assert not re.search(r"\b(?:nan|inf|None|True|False)\b", text)


def test_a_pin_shows_nothing_of_that_either() -> None:
    text = justification.render(building.pin(), building.run(building.decision()))
    assert not re.search(r"/home|alice|gpu07|example\.net|bob|\bNone\b|\bnan\b|\binf\b", text)


def test_an_answer_full_of_nan_is_said_in_words() -> None:
    run = building.run(building.decision())
    wrong = replace(run.trials[-1], outcome=Outcome.INCORRECT, detail="NaN in row 3", relative_error=float("inf"))
    assert "not finite" in run_report.render_text(replace(run, trials=(*run.trials[:-1], wrong)))


def test_an_incomplete_run_ranks_nothing_and_says_why_there_is_no_pin() -> None:
    text = run_report.render_text(building.run(building.incomplete(), "incomplete"))
    assert "no pin: incomplete: the default (fa3) was not measured" in text
    assert "Not ranked: the default was not measured." in text


def test_a_run_that_was_not_ended_is_unfinished_whoever_works_on_it() -> None:
    text = run_report.render_text(building.run(None, "running"))
    assert "run 7f3a9c, unfinished\n" in text and "none yet: the run is unfinished" in text


def test_a_failed_trial_stands_with_its_detail() -> None:
    text = run_report.render_text(building.run(building.decision()))
    assert "Trials that failed: 1" in text and "signal 11 in .../nn.py last phase: warmup" in text


def test_both_versions_of_the_engine_are_named_when_they_differ() -> None:
    run: Run = building.run(building.decision())
    sentence = "SGLang 0.5.16 was on the worker's path; the rules of SGLang 0.5.22 were applied."
    assert sentence in run_report.render_text(run) and "The two versions differ" in run_report.render_text(run)
    absent = run_report.render_text(replace(run, engine_version=None))
    assert "no SGLang was on the worker's path; the rules of SGLang 0.5.22 were applied." in absent


def test_the_default_of_one_phase_is_not_the_default_of_the_other() -> None:
    decision: Decision = building.decision()
    swapped = replace(decision, default=decision.pick, cells=tuple(replace(cell, ratio=None) for cell in decision.cells))
    text = run_report.render_text(building.run(swapped))
    assert re.search(r"decode_b64_c2048 +100 % +flashinfer/p1 +119.7 us +default", text)
    assert re.search(r"decode_b64_c2048 +100 % +fa3/p1 +131.2 us +not ranked", text)
