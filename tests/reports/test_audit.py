from __future__ import annotations

import json
from dataclasses import replace

from backends.cell import Phase
from backends.wire import from_plain
from reports.audit import AS_REPORTED, render_json, render_text
from store.decision import Interval, Pair
from store.verdicts.audit import Audit, Basis, DefaultFound, DefaultVerdict, ReasonFound, ReasonVerdict, Relation
from tests.tuner.auditing.reasons import RULE, here

FA3 = Pair("fa3", "fa3")
ROUNDS = Relation(
    *(Phase.DECODE, "reason-decode-64x4096", "fa3", "flashinfer", 43.5, 44.4, "us", 1.0204),
    *(Interval(1.0204, 1.0183, 1.0225, 0.95, 4), Basis.ROUNDS),
)
KEEP = DefaultFound(FA3, DefaultVerdict.KEEP, "no arm beat the default: with flashinfer a step is at least 0.79 % slower, predicted")


def audit(found: ReasonFound | None = None, default: DefaultFound = KEEP, **changes: object) -> Audit:
    found = found or ReasonFound(RULE, here(), ReasonVerdict.VOID, (ROUNDS,))
    on = "qwen3_8b on NVIDIA H200, chat traffic"
    made = Audit(on, "sglang", "0.5.16", "0.5.16", "run run1, 4 fresh processes", (found,), default, "run1", 0)
    return replace(made, **changes)  # type: ignore[arg-type]


def reason(found: ReasonFound) -> str:
    return next(line for line in render_text(audit(found)).splitlines() if line.startswith("  reason"))


def test_a_reason_is_told_in_one_sentence_with_its_numbers_and_the_default_after_it() -> None:
    assert render_text(audit()).splitlines() == [
        "qwen3_8b on NVIDIA H200, chat traffic, SGLang 0.5.16",
        "",
        "made.up: no longer holds",
        "  reason    fa3 was chosen because FlashInfer was slow; with FlashInfer 0.6.14 here flashinfer takes 44.40 us against 43.50 us "
        "of fa3 on reason-decode-64x4096, 1.020 (1.018 to 1.022) times, 95 % interval over 4 fresh processes, "
        "still longer, but not the 2.000 times of the reason: the reason no longer holds",
        "  expected  flashinfer takes at least 2.000 times the time of fa3 in decode, 64 requests of 4096 tokens",
        "  releases  FlashInfer >= 0.6.0, < 0.6.4; 0.6.14 is installed, not among them; SGLang goes round the fault by itself since 0.5.9 "
        "(0.5.16 is installed)",
        "  recorded  https://github.com/sgl-project/sglang/issues/1",
        "",
        "default: fa3, the default is still not slower: keep",
        "  because   no arm beat the default: with flashinfer a step is at least 0.79 % slower, predicted",
        "  judged    run run1, 4 fresh processes",
        "  report    attnpin report --run run1",
    ]


def test_a_default_that_is_slower_ends_with_the_flags_to_paste() -> None:
    flags = (("prefill-attention-backend", "fa3"), ("decode-attention-backend", "flashinfer"))
    found = DefaultFound(FA3, DefaultVerdict.SLOWER, "with it a step is 5.0 % faster, predicted", Pair("fa3", "flashinfer"), flags)
    text = render_text(audit(default=found))
    assert "default: fa3 is slower: use prefill fa3, decode flashinfer" in text
    assert "  flags     --prefill-attention-backend fa3 --decode-attention-backend flashinfer" in text


def test_a_reason_that_holds_no_longer_is_not_contradicted_by_the_times_before_it() -> None:
    faster = replace(ROUNDS, ratio=0.9, interval=Interval(0.9, 0.89, 0.91, 0.95, 4))
    assert "4 fresh processes: the reason no longer holds" in reason(ReasonFound(RULE, here(), ReasonVerdict.VOID, (faster,)))
    sized = here().reason
    unsized = replace(here(), reason=replace(sized, test=replace(sized.test, slower_by=0.0)))
    said = reason(ReasonFound(RULE, unsized, ReasonVerdict.VOID, (ROUNDS,)))
    assert "4 fresh processes, no more than a tie: the reason no longer holds" in said


def test_reported_figures_keep_their_digits_and_are_not_called_measured() -> None:
    told = Relation(Phase.DECODE, "in decode", "fa3", "flashinfer", 98.0, 35.0, "us", 35 / 98, None, Basis.FIGURES)
    said = reason(ReasonFound(RULE, here(None, None), ReasonVerdict.VOID, (told,)))
    assert "as reported flashinfer 35 us and fa3 98 us in decode: fa3 takes 2.800 times as long: the reason no longer holds" in said
    assert said.endswith(f"({AS_REPORTED})")


def test_a_probe_is_called_one_process() -> None:
    alone = replace(ROUNDS, against_value=561.0, ratio=12.9, interval=None, basis=Basis.PROBES)
    said = reason(ReasonFound(RULE, here("0.6.1", True), ReasonVerdict.HOLDS, (alone,)))
    assert "561.0 us against 43.50 us of fa3 on reason-decode-64x4096, each alone in one process: 12.90 times, too slow to race" in said
    assert said.endswith("the reason holds")


def test_what_cannot_be_told_says_why() -> None:
    stuck = ReasonFound(RULE, here(), ReasonVerdict.UNTESTABLE, (), "attnpin cannot drive fa4")
    assert reason(stuck).endswith("FlashInfer was slow; the reason cannot be tested here: attnpin cannot drive fa4")
    open_ = ReasonFound(RULE, here(), ReasonVerdict.INCONCLUSIVE, (ROUNDS,), "too near")
    assert reason(open_).endswith("fresh processes; too near: whether the reason holds is inconclusive")


def test_unknown_releases_and_engines_are_said_to_be_unknown() -> None:
    found = ReasonFound(RULE, here(None, None), ReasonVerdict.VOID, (ROUNDS,))
    text = render_text(audit(found, engine_version=None, run=None))
    assert "; the installed one is not known; " in text and "by the rules of SGLang 0.5.16" in text and "report" not in text
    assert "which may be one" in render_text(audit(replace(found, here=here("a tree", None))))


def test_json_is_the_whole_audit() -> None:
    assert from_plain(Audit, json.loads(render_json(audit()))) == audit()
