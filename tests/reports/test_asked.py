from __future__ import annotations

from dataclasses import replace

from reports import justification, run_report
from reports.asked import lines
from store.engines.asked import Difference, EngineAnswer
from store.runs.run import Run
from tests.reports.building import decision, pin, run

SAME = EngineAnswer("0.5.16", "NVIDIA H200", "fa3", "fa3", 1, "bfloat16")
UNLIKE = replace(SAME, page_size=64, differences=(Difference("page size", "64", "1"),))


def ran(answer: EngineAnswer | None) -> Run:
    found = run(decision())
    return replace(found, default=replace(found.default, asked=answer))


def test_an_answer_is_told_with_what_differs_and_whose_word_counts() -> None:
    assert lines(UNLIKE, "sglang") == (
        "SGLang 0.5.16 itself was asked (simulated NVIDIA H200): prefill fa3, decode fa3, page size 64, KV dtype bfloat16",
        "page size: SGLang 64, attnpin's rules 1; SGLang's answer is used",
    )


def test_an_answer_that_differs_in_nothing_says_so() -> None:
    assert lines(SAME, "sglang")[1:] == ("attnpin's rules for SGLang say the same",)


def test_a_refusal_is_quoted() -> None:
    assert lines(EngineAnswer("0.5.16", refusal="no such page"), "sglang") == (
        'SGLang 0.5.16 itself was asked (on the worker\'s own machine) and would not start: "no such page"',
        "attnpin's rules for SGLang say the same",
    )


def test_who_could_not_be_asked_is_told_from_who_was_not_there_and_from_nobody_asking() -> None:
    assert lines(EngineAnswer("0.5.16", failure="why"), "sglang") == ("SGLang 0.5.16 could not be asked (why): attnpin's rules answered",)
    assert lines(EngineAnswer(None, failure="why"), "sglang") == ("no SGLang was asked (why): attnpin's rules answered",)
    assert lines(None, "sglang") == ("attnpin's rules answered; no SGLang was asked",)


def test_the_lines_stand_in_the_justification_and_in_every_report() -> None:
    asked = ran(UNLIKE)
    told = lines(UNLIKE, "sglang")
    for text in (justification.render(pin(), asked), run_report.render_text(asked), run_report.render_markdown(asked)):
        assert all(line in text for line in told)
        assert "SGLang 0.5.16 was on the worker's path and was asked itself" in text


def test_a_run_that_asked_nobody_says_whose_rules_were_applied() -> None:
    text = run_report.render_text(ran(None))
    assert "the rules of SGLang 0.5.22 were applied" in text and "asked" not in text.partition("Rules")[2].partition("Where")[0]
