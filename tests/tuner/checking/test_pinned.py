"""What a pin and its evidence must agree on, and where its question is asked today."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import read_pin, verify_evidence
from tests.tuner.checking.upgraded import then
from tuner.checking.edited import refuse_edited
from tuner.checking.pinned import as_pinned
from tuner.checking.resting import resting
from tuner.errors import UsageError
from tuner.pin import pin_of
from tuner.settings import compose

PINS = sorted((Path(__file__).parents[3] / "examples").rglob("pin.yaml"))


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.parent.name)
def test_a_committed_pin_of_any_age_says_what_its_evidence_decided(path: Path) -> None:
    pin = read_pin(path)
    run = read_evidence(verify_evidence(path, pin))
    refuse_edited(pin, run)
    assert resting(run, run.environment, ()).served


def test_flags_that_nothing_was_measured_for_are_refused() -> None:
    run = then()
    assert run.decision is not None
    pin = pin_of(run, run.decision, ("e", "0"))
    refuse_edited(replace(pin, flags=pin.flags[::-1]), run)
    for edited in (replace(pin, flags=()), replace(pin, run="run2")):
        with pytest.raises(UsageError, match="somebody edited one of them"):
            refuse_edited(edited, run)


def test_the_question_is_the_pins_and_the_place_is_todays() -> None:
    settings = compose(["engine.command=[python3]", "engine.path=[/new]", "traffic=batch_offline", "measure=release"])
    run = then()
    asked = as_pinned(settings, run).scenario
    engine = replace(run.scenario.engine, command=("python3",), path=("/new",))
    assert asked == replace(run.scenario, engine=engine)
