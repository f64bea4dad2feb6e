from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store.comparison import Label
from store.pin_files import read_pin
from store.pin_yaml import in_order
from tests.examples import PAGE, comparison_page_of, comparison_texts, comparisons, folders, page, stored, texts
from tests.reports.web.reading import Reading, words
from tuner.comparing.recorded import EVIDENCE, judged, recorded
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


@each_example
def test_the_page_of_an_example_says_what_its_evidence_says(folder: Path) -> None:
    assert Reading((folder / PAGE).read_text()).text == words(lambda: page(*stored(folder))), f"{PAGE}: {STALE}"


each_comparison = pytest.mark.parametrize("folder", comparisons(), ids=lambda folder: folder.name)


@each_comparison
def test_a_comparison_is_judged_and_told_from_its_evidence_as_its_texts_say(folder: Path) -> None:
    for name, text in comparison_texts(recorded(folder)).items():
        assert (folder / name).read_text() == text, f"{name}: {STALE}"
    assert (folder / EVIDENCE).stat().st_size < 300_000


@each_comparison
def test_the_page_of_a_comparison_says_what_its_evidence_says(folder: Path) -> None:
    assert Reading((folder / PAGE).read_text()).text == words(lambda: comparison_page_of(recorded(folder))), f"{PAGE}: {STALE}"


def test_the_upgrade_of_sglang_issue_17411_regressed_where_the_library_chose_and_not_where_fa2_was_asked_for() -> None:
    (folder,) = (folder for folder in comparisons() if folder.name == "flashinfer-0.5.3-to-0.6.1-h200")
    verdict = judged(recorded(folder))
    chosen, asked = "flashinfer/p1,decode_backend=auto@kernel", "flashinfer/p1@kernel"
    labels = {arm: {row.verdict.label for row in verdict.rows if row.arm == arm} for arm in (chosen, asked)}
    assert labels[chosen] == {Label.REGRESSED} and Label.REGRESSED not in labels[asked] and verdict.exit_code == 1
    changed = {(each.before, each.after, each.twin) for each in verdict.dispatches if each.arm == chosen}
    assert changed == {("auto,tensor cores", "fa3,tensor cores", asked)}
    assert {each.code for each in verdict.dispatches if each.arm == asked} == {True}
    assert any(source.endswith("issues/17411") for issue in verdict.issues for source in issue.sources)
