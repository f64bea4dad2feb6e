"""What tests on a GPU told of each backend's features, from their report to the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.cell import Phase
from tests.pages.coverage import outcomes, page
from tests.pages.coverage.features import E4M3, FRESH, VERIFY, features
from tests.pages.coverage.outcomes import Case, cases, outcome, told

PASSED = '<testcase classname="tests" name="test_a_step_is_right_as_it_is_timed[{}]" time="1.0"/>'
MESSAGE = "backends.checks.tolerance.Incorrect: far off&#10;more"
LOST = f'<testcase classname="tests" name="test_each_step_is_right[{{}}]"><failure message="{MESSAGE}"/></testcase>'
SKIPPED = '<testcase classname="tests" name="test_each_step_is_right[{}]"><skipped message="not here"/></testcase>'


def report(folder: Path, *testcases: str) -> Path:
    file = folder / "report.xml"
    file.write_text(f"<testsuites><testsuite>{''.join(testcases)}</testsuite></testsuites>")
    return file


def test_a_report_tells_of_each_case_that_ran_whether_it_was_right(tmp_path: Path) -> None:
    file = report(tmp_path, PASSED.format("fa3-verify a chain of 4"), LOST.format("triton-latent"), SKIPPED.format("fa4-plain"))
    assert list(cases(file)) == [Case("fa3", "verify a chain of 4", None), Case("triton", "latent", "Incorrect: far off")]


def test_a_feature_is_right_in_the_phases_it_is_declared_in_once_all_its_tests_are() -> None:
    latent = [Case("fa3", "latent", None), Case("fa3", "latent", "far off")]
    found = told([Case("trtllm_mha", "plain", None), Case("fa3", "plain", None), *latent])
    assert found == {"trtllm_mha": {"plain": ["decode"]}, "fa3": {"plain": ["decode", "prefill"], "latent": "far off"}}


def test_a_phase_in_which_a_wrong_answer_is_put_up_with_tells_nothing() -> None:
    assert told([Case("torch_native", "float8_e4m3fn scaled", None)]) == {"torch_native": {"float8_e4m3fn scaled": []}}


def test_the_page_says_right_of_what_no_run_has_timed_and_lost_of_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"fa3": {"verify a chain of 4": ["prefill"], "float8_e4m3fn scaled": ["prefill"], "float8_e4m3fn without scales": "far off"}}
    monkeypatch.setattr(outcomes, "outcomes", lambda: known)
    by_name = {feature.name: feature for feature in features()}

    def said(feature: str, place: str) -> str:
        return next(row.said[place] for row in page._rows(by_name[feature]) if row.backend == "fa3")

    assert said("verify steps, chain of 4", VERIFY) == "right, not timed"
    assert said(E4M3, FRESH) == "lost where its answers were tested: far off"
    assert said("verify steps, tree of 8", VERIFY) == page.UNMEASURED
    assert outcome("fa3", ["verify a chain of 4"], Phase.DECODE) is None


def test_chunks_beside_decoding_requests_tell_of_prefill_alone_and_a_verify_step_of_both() -> None:
    found = told([Case("triton", "mixed chunks", None), Case("triton", "verify a chain of 4", None)])["triton"]
    assert found == {"mixed chunks": ["prefill"], "verify a chain of 4": ["decode", "prefill"]}


def test_a_later_report_is_added_to_what_earlier_ones_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "DATA", tmp_path / "features.yaml")
    for testcase in (LOST.format("fa3-plain"), PASSED.format("fa3-plain"), PASSED.format("fa3-window")):
        outcomes.outcomes.cache_clear()
        outcomes.main([str(report(tmp_path, testcase))])
    outcomes.outcomes.cache_clear()
    assert outcomes.outcomes() == {"fa3": {"plain": ["decode", "prefill"], "window": ["decode", "prefill"]}}
    outcomes.outcomes.cache_clear()
