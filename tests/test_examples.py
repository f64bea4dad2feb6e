from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store.pin_files import read_pin
from store.pin_yaml import in_order
from tests.examples import folders, stored, texts
from tuner.decide import decide
from tuner.pin import pin_of

STALE = "it is stale: run python -m tests.examples"

each_example = pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)


def test_there_are_runs_of_two_models() -> None:
    assert {read_pin(folder / "pin.yaml").valid_for.model for folder in folders()} >= {"qwen3_8b", "qwen3_235b_a22b"}


@each_example
def test_an_example_is_decided_from_its_evidence_as_its_pin_says(folder: Path) -> None:
    pin, run = stored(folder)
    assert in_order(pin_of(run, decide(run), pin.evidence)) == pin, STALE


@each_example
def test_the_texts_of_an_example_are_what_its_evidence_renders_to_as_it_was_decided_and_as_it_is_decided_today(folder: Path) -> None:
    pin, run = stored(folder)
    for version in (run, replace(run, decision=decide(run))):
        for name, text in texts(pin, version).items():
            assert (folder / name).read_text() == text, f"{name}: {STALE}"
