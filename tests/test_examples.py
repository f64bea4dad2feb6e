from __future__ import annotations

from pathlib import Path

import pytest

from store.evidence import read_evidence
from store.pin_files import read_pin, verify_evidence
from tests.examples import folders, texts
from tuner.decide import decide

each_example = pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)


def test_there_are_runs_of_two_models() -> None:
    assert {read_pin(folder / "pin.yaml").valid_for.model for folder in folders()} >= {"qwen3_8b", "qwen3_235b_a22b"}


@each_example
def test_an_example_is_decided_from_its_evidence_as_its_pin_says(folder: Path) -> None:
    pin = read_pin(folder / "pin.yaml")
    decision = decide(read_evidence(verify_evidence(folder / "pin.yaml", pin)))
    assert (decision.flags, decision.because, decision.unset_because) == (pin.flags, pin.because, pin.unset)


@each_example
def test_the_texts_of_an_example_are_what_its_evidence_renders_to(folder: Path) -> None:
    for name, text in texts(folder).items():
        assert (folder / name).read_text() == text, f"{name} is stale: run python -m tests.examples"
