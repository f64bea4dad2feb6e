"""What becomes of an arm is a verb, in every sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reports
import tuner
from backends.outcome import Outcome
from reports.outcome_words import ends

CALLED_A_STATE = re.compile(r"\bis \{[\w.]*outcome\.value\}")


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_verb_in_the_present(outcome: Outcome) -> None:
    verb = ends(outcome)
    assert verb.split()[0] in ("is", "does", "misses", "runs", "crashes", "times", "falls")


def test_an_arm_crashes_and_is_not_crashed() -> None:
    assert (ends(Outcome.CRASHED), ends(Outcome.TIMED_OUT), ends(Outcome.REFUSED)) == ("crashes", "times out", "is refused")


def test_no_sentence_calls_an_outcome_a_state() -> None:
    """ "is crashed", "is timed out", "is out of memory"."""
    sources = [file for room in (reports, tuner) for file in Path(str(room.__file__)).parent.rglob("*.py")]
    assert len(sources) > 100
    assert [file.name for file in sources if CALLED_A_STATE.search(file.read_text())] == []
