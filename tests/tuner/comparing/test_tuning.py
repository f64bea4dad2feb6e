"""What either side chose by timing, and a candidate that is told what the baseline chose."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from backends.measured import Trial
from store.runs.run import Run
from tests.store.building import all_trials
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import GATE, RUN, times
from tuner import compare
from tuner.comparing.both import Both
from tuner.comparing.judge import judge
from tuner.comparing.tuning import choices_of, tuned_apart
from tuner.job import Job

CHOICE, OTHER = ("_decode (8,)", "BLOCK: 64"), ("_decode (8,)", "BLOCK: 32")


def tuned(run: Run, choice: tuple[str, str]) -> Run:
    return replace(run, trials=tuple(replace(trial, autotuned=(choice,)) for trial in all_trials(run)))


def test_the_choices_of_a_run_are_those_of_its_measured_trials() -> None:
    assert choices_of(tuned(RUN, CHOICE).trials) == (CHOICE,) and choices_of(RUN.trials) == ()


def test_a_problem_that_was_tuned_otherwise_is_said_in_the_verdict() -> None:
    measured = compared(RUN, 4, times())
    apart = replace(measured, baseline=tuned(measured.baseline, CHOICE), candidate=tuned(measured.candidate, OTHER))
    said = "_decode (8,) was tuned otherwise: the baseline took BLOCK: 64, the candidate BLOCK: 32"
    assert list(tuned_apart(apart)) == [said] and said in judge(apart, GATE).notes
    assert not list(tuned_apart(replace(apart, candidate=apart.baseline)))


@pytest.mark.parametrize(("pinned", "told"), [(False, ()), (True, (CHOICE,))])
def test_a_pinned_candidate_is_told_before_it_is_probed(
    monkeypatch: pytest.MonkeyPatch, pinned: bool, told: tuple[tuple[str, str], ...]
) -> None:
    measured = replace(compared(RUN, 0, times()), baseline=tuned(RUN, CHOICE))
    asked: list[tuple[str, tuple[tuple[str, str], ...]]] = []

    def probe(job: Any, known: tuple[Trial, ...], rounds: int) -> None:
        asked.append((job.run_id, job.choices))

    monkeypatch.setattr(compare, "probe_arms", probe)
    monkeypatch.setattr(compare, "load_side_by_side", lambda store, name: measured)
    session: Any = SimpleNamespace(staged=lambda stage: stage, expect=lambda arms: None, import_ahead=lambda: None)
    nothing: Any = None
    old, new = (Job(RUN.scenario, nothing, name, session, nothing, RUN.arms, RUN.cells) for name in ("old", "new"))
    both = compare.probed(Both("c", nothing, (old, new), pinned=pinned), measured)
    assert asked == [("old", ()), ("new", told)] and both.jobs[1].choices == told
    assert both.jobs[1].question("round", ())["choices"] == [list(each) for each in told]
