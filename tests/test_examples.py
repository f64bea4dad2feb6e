from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from store.pins.pin_files import read_pin
from store.pins.pin_yaml import in_order
from store.verdicts.bisection import WELL
from store.verdicts.checked import Action, Answer, Ground
from store.verdicts.comparison import Label
from tests.example_bisections import SUFFIX, bisection_of, bisection_texts
from tests.example_checks import check_of, check_texts
from tests.examples import (
    PAGE,
    bisections,
    checks,
    comparison_page_of,
    comparison_texts,
    comparisons,
    folders,
    page,
    pages,
    stored,
    texts,
)
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


@pytest.mark.parametrize("folder", pages(), ids=lambda folder: folder.name)
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


@pytest.mark.parametrize("folder", bisections(), ids=lambda folder: folder.name)
def test_a_bisection_is_told_from_the_evidence_of_its_comparisons(folder: Path) -> None:
    for name, text in bisection_texts(folder).items():
        assert (folder / name).read_text() == text, f"{name}: {STALE}"


@pytest.mark.parametrize("folder", checks(), ids=lambda folder: folder.name)
def test_a_check_is_answered_from_the_pin_and_the_evidence_of_its_run(folder: Path) -> None:
    for name, text in check_texts(folder).items():
        assert (folder / name).read_text() == text, f"{name}: {STALE}"


def test_the_release_that_repairs_the_fault_is_the_first_good_one_again_and_one_long_after_it_is_rid_of_it_too() -> None:
    (folder,) = (folder for folder in bisections() if "flashinfer" in folder.name)
    found = bisection_of(folder)
    assert (found.first_bad and found.first_bad.first, found.exit_code) == (("0.6.0",), 1)
    assert found.good_again and found.good_again.first == ("0.6.4",)
    for release in ("0.6.4", "0.6.14"):
        later = found.of(release)
        assert later is not None and later.standing in WELL and later.verdict is not None
        assert max(row.verdict.numbers.high for row in later.verdict.rows if row.cell) < math.log(1.05)
    assert {path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}")} == {each.release for each in found.tried}


def test_a_pin_regresses_under_the_calls_of_an_sglang_before_0_5_9_and_holds_under_those_since() -> None:
    answers = {folder.name: check_of(folder) for folder in checks()}
    before, since = (
        answers["flashinfer-0.5.3-to-0.6.1-check-sglang-0.5.8-h200"],
        answers["flashinfer-0.5.3-to-0.6.1-check-sglang-0.5.9-h200"],
    )
    assert (before.answer, before.exit_code) == (Answer.REGRESSED, 1) and before.next is not None and before.next.action is Action.NONE
    assert (since.answer, since.ground, since.exit_code) == (Answer.EQUIVALENT, Ground.SAME_CODE, 0)
