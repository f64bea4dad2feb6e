from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Phase
from reports.recorded_reason import expected, line
from store.engines.recorded_reason import Expected, Shape
from tests.tuner.auditing.reasons import SLOW, here


@pytest.mark.parametrize(
    ("installed", "affected", "said"),
    [
        ("0.6.14", False, "not in the installed 0.6.14; "),
        ("0.6.1", True, "so is the installed 0.6.1; "),
        ("a source tree", None, "a source tree is installed; "),
        (None, None, ""),
    ],
)
def test_a_plan_says_which_releases_are_blamed_and_whether_the_installed_one_is(installed: str, affected: bool, said: str) -> None:
    assert line(here(installed, affected)) == (
        f"recorded reason: FlashInfer >= 0.6.0, < 0.6.4: slow (sglang issue 1); {said}test it with attnpin audit"
    )


def test_a_release_range_may_be_open_or_unknown() -> None:
    known = here(None, None)
    since = replace(known, reason=replace(known.reason, first_good=None))
    unknown = replace(known, reason=replace(known.reason, first_bad=None, first_good=None))
    assert "FlashInfer >= 0.6.0: slow" in line(since) and "FlashInfer of any release: slow" in line(unknown)


def test_a_reason_that_blames_no_release_is_told_itself() -> None:
    known = here(None, None)
    plain = replace(known.reason, package=None, symptom=None, sources=("sglang/srt/a.py, f",))
    said = "recorded reason: chosen because FlashInfer was slow (sglang/srt/a.py, f); test it with attnpin audit"
    assert line(replace(known, reason=plain)) == said


def test_what_a_test_expects_is_a_sentence() -> None:
    assert expected(SLOW) == "flashinfer takes at least 2.000 times the time of fa3 in decode, 64 requests of 4096 tokens"
    claim = replace(SLOW, slower_by=0.0, shapes=(), phases=(Phase.PREFILL, Phase.DECODE))
    assert expected(claim) == "flashinfer takes longer than fa3 in decode and prefill, over the scenario's own cells"
    wrong = replace(SLOW, expected=Expected.WRONG, phases=(Phase.PREFILL,), shapes=(Shape(Phase.PREFILL, 1, 8192),))
    assert expected(wrong) == "flashinfer answers wrongly in prefill, 1 request of 8192 tokens"
