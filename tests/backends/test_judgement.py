from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.allowed import Span
from backends.answers import WANTED
from backends.asked import Asked, Kind, asking
from backends.capability import Capability, InnerPath, KnownDeviation, Note
from backends.cell import Phase
from backends.deviation import Deviation, Step
from backends.judgement import judge, reasons, rules_out
from backends.limits import Limit, misfits
from backends.model import LayerKind
from backends.pages import PAGE_SIZES
from backends.question import Question
from backends.vocabulary import WORDS, asked_in_words
from tests.asking import FULL, entries, gpu, model, question
from tests.questions import limits, questions

ALL = tuple(entries().values())
NEW_ENOUGH = Limit("flashinfer", (Span("0.6.14", None),), "FlashInfer pull request 1", when=(("head_dim", (128,)),))


def judged(capability: Capability, **changes: Any) -> Any:
    return judge(capability, Asked(question(**changes)))


@given(st.sampled_from(ALL), limits(), questions())
def test_adding_a_limit_never_adds_a_candidate(entry: Any, limit: Limit, asked: Question) -> None:
    more = replace(entry.capability, limits=(*entry.capability.limits, limit))
    assert reasons(more, asked) or not reasons(entry.capability, asked)


@given(st.sampled_from(ALL), questions())
def test_the_order_of_limits_decides_nothing(entry: Any, asked: Question) -> None:
    turned = replace(entry.capability, limits=entry.capability.limits[::-1])
    assert set(reasons(turned, asked)) == set(reasons(entry.capability, asked))


@given(st.sampled_from(ALL), questions())
def test_every_reason_and_every_doubt_says_asked_allowed_remedy_and_source(entry: Any, asked: Question) -> None:
    found = judge(entry.capability, Asked(asked))
    assert all(each.asked and each.allowed and each.remedy and len(each.source) > 8 for each in (*found.reasons, *found.doubts))
    assert not (found.reasons and found.doubts)


@given(st.sampled_from(ALL), questions())
def test_a_reason_contains_the_value_asked(entry: Any, asked: Question) -> None:
    for layer in asked.layers:
        for limit in entry.capability.limits:
            for misfit in misfits(limit, Kind(asked, layer)):
                said = asked_in_words(limit.rule, misfit.value, asked)
                assert misfit.value in (None, WANTED) or str(misfit.value) in said
                assert misfit.value is not None or "unknown" in said


@given(st.sampled_from(ALL), questions(), questions())
def test_a_judgement_rests_on_its_own_question_alone(entry: Any, first: Question, second: Question) -> None:
    fresh = replace(entry.capability)
    judge(entry.capability, Asked(first))
    assert judge(entry.capability, Asked(second)) == judge(fresh, Asked(second))


@given(st.sampled_from(ALL), questions())
def test_a_backend_that_is_ruled_out_is_judged_so_in_every_phase_and_at_every_page_size(entry: Any, asked: Question) -> None:
    ask = asking(asked)
    if rules_out(entry.capability, ask(asked.phase, asked.page_size)):
        assert all(judge(entry.capability, ask(phase, page)).reasons for phase in Phase for page in PAGE_SIZES)


@given(st.sampled_from(ALL), questions())
def test_looking_at_a_backend_first_changes_no_judgement(entry: Any, asked: Question) -> None:
    ask = asking(asked)
    rules_out(entry.capability, ask(asked.phase, asked.page_size))
    for phase in Phase:
        assert judge(entry.capability, ask(phase, 64)) == judge(entry.capability, Asked(replace(asked, phase=phase, page_size=64)))


def test_what_a_phase_or_a_page_size_may_put_right_rules_nothing_out() -> None:
    phased, paged, path = (Limit("group", (1,), "made up", when=((word, ("decode", 1, "XQA")),)) for word in ("phase", "page_size", "path"))
    unsure = Limit("flashinfer", (Span("0.6.14", None),), "made up")
    assert not any(rules_out(Capability((one,)), Asked(question())) for one in (phased, paged, path, unsure))
    assert rules_out(Capability((Limit("group", (1,), "made up"),)), Asked(question()))
    assert rules_out(Capability((Limit("device", ("cpu",), "made up"),)), Asked(question()))
    assert rules_out(Capability((), versions=("0.5.16",)), Asked(question()))


def test_the_page_size_is_found_when_a_limit_asks_for_it() -> None:
    found = list[int]()

    def page() -> int:
        found.append(64)
        return 64

    hopper = (("sm", (90,)),)
    ask, capability = asking(question()), Capability((Limit("page_size", (128,), "made up", when=hopper),))
    assert [reason.asked for reason in judge(capability, ask(Phase.DECODE, page)).reasons] == ["page size 64"] and found == [64]
    assert not judge(capability, asking(question(gpu=gpu(100)))(Phase.DECODE, page)).reasons and found == [64]


@given(questions())
def test_a_worker_that_was_asked_never_makes_a_backend_usable_that_was_not_trusted(asked: Question) -> None:
    for entry in ALL:
        unasked = judge(entry.capability, Asked(replace(asked, packages=None)))
        assert not unasked.reasons or reasons(entry.capability, replace(asked, packages=dict.fromkeys(entry.capability.modules, "")))


def test_an_unknown_version_is_trusted_and_named() -> None:
    found = judged(Capability((NEW_ENOUGH,)))
    [doubt] = found.doubts
    assert not found.reasons
    assert (doubt.asked, doubt.allowed) == ("flashinfer unknown", "flashinfer 0.6.14 or more for head dim 128")
    assert doubt.remedy == "ask a worker (engine.command), or set what is unknown"


def test_a_known_version_is_judged() -> None:
    [reason] = judged(Capability((NEW_ENOUGH,)), packages={"flashinfer": "0.6.12"}).reasons
    assert reason.asked == "flashinfer 0.6.12" and reason.remedy == "install a listed flashinfer, or choose another backend"
    assert judged(Capability((NEW_ENOUGH,)), packages={"flashinfer": "0.6.14"}) == judged(Capability(()))


def test_a_version_that_a_distribution_does_not_tell_is_unknown() -> None:
    assert judged(Capability((NEW_ENOUGH,)), packages={"flashinfer": ""}).doubts


def test_an_unknown_condition_is_named_beside_what_is_asked() -> None:
    limit = Limit("head_dim", (64,), "made up", when=(("sm", (90,)),))
    [doubt] = judged(Capability((limit,)), gpu=gpu(None)).doubts
    assert doubt.asked == "head dim 128 with sm unknown"


def test_a_decisive_limit_on_what_nobody_knows_is_a_doubt_too() -> None:
    limit = Limit("attention", ("mla",), "made up", when=(("sm", (90,)),))
    assert [doubt.rule for doubt in judged(Capability((limit,)), gpu=gpu(None)).doubts] == ["attention"]
    assert [reason.rule for reason in judged(Capability((limit, Limit("group", (1,), "made up")))).reasons] == ["attention"]


def test_a_sure_reason_leaves_no_doubt() -> None:
    found = judged(Capability((NEW_ENOUGH, Limit("group", (1,), "made up"))))
    assert [reason.rule for reason in found.reasons] == ["group"] and not found.doubts


def test_an_architecture_that_no_limit_names_is_trusted() -> None:
    [doubt] = judged(Capability(()), gpu=gpu(130)).doubts
    assert doubt.asked == "sm 130 (unknown architecture)"
    assert not judged(Capability(()), gpu=gpu(121)).doubts


def test_layers_are_named_where_not_all_break_a_limit() -> None:
    wide = LayerKind("wide", 1, 8, 8, 256, 256)
    limit = Capability((Limit("head_dim", (128,), "made up"),))
    assert [reason.asked for reason in judged(limit, model=model(FULL, wide)).reasons] == ["head dim 256 in wide layers"]
    assert [reason.asked for reason in judged(limit, model=model(wide)).reasons] == ["head dim 256"]


def test_a_dtype_that_the_checkpoint_chose_is_told_from_one_that_was_written() -> None:
    limit = Capability((Limit("kv_dtype", ("bfloat16",), "made up"),))
    declared = model(declared_kv_dtype="float8_e4m3fn")
    for flag, said in (("auto", "which the checkpoint declares"), ("fp8_e4m3", "")):
        [reason] = judged(limit, model=declared, kv_dtype="float8_e4m3fn", kv_flag=flag).reasons
        assert reason.asked.startswith("float8_e4m3fn KV cache") and said in reason.asked
    assert "declares" not in judged(limit, kv_dtype="float8_e4m3fn").reasons[0].asked


def test_the_engine_s_limits_name_the_rules_and_whom_they_stand_in_for() -> None:
    theirs, library = (Capability((Limit("group", (1,), source),)) for source in ("sglang/srt/x.py", "FlashInfer issue 1"))
    assert judged(theirs).reasons[0].source == "sglang/srt/x.py (0.5.22)"
    assert judged(theirs, rules="0.5.16", engine_version="0.5.17").reasons[0].source == "sglang/srt/x.py (0.5.16, applied to 0.5.17)"
    assert judged(library).reasons[0].source == "FlashInfer issue 1"


def test_a_library_called_directly_has_its_own_limits_alone() -> None:
    capability = Capability(
        (Limit("group", (1,), "sglang/srt/x.py"), Limit("group", (2,), "FlashInfer issue 1", when=(("path", ("fa3",)),)))
    )
    assert [reason.allowed for reason in judged(capability).reasons] == ["1 query heads per KV head"]
    assert [reason.source for reason in judged(capability, paths=("fa3",)).reasons] == ["FlashInfer issue 1"]
    assert not judged(capability, paths=("fa2",)).reasons


def test_limits_of_an_inner_path_count_where_it_runs() -> None:
    path = InnerPath("XQA", "made up", when=(("phase", ("decode",)), ("sm", (90,))))
    capability = Capability((Limit("head_dim", (64,), "made up", when=(("path", ("XQA",)),)),), paths=(path,))
    [reason] = judged(capability).reasons
    assert reason.allowed == "head dim 64 for XQA kernels"
    assert not judged(capability, phase=Phase.PREFILL).reasons
    assert not judged(capability, gpu=gpu(100)).reasons
    assert not judged(replace(capability, paths=(replace(path, versions=("0.5.16",)),))).reasons


def test_a_path_that_may_run_is_no_reason_but_a_doubt() -> None:
    path = InnerPath("XQA", "made up", when=(("sm", (90,)),))
    capability = Capability((Limit("head_dim", (64,), "made up", when=(("path", ("XQA",)),)),), paths=(path,))
    [doubt] = judged(capability, gpu=gpu(None)).doubts
    assert doubt.asked == "head dim 128 with unknown kernels"


def test_a_note_is_no_reason_and_holds_under_its_conditions() -> None:
    note = Note("copies the pool", "made up", when=(("phase", ("prefill",)),))
    capability = Capability((), notes=(note, Note("sleeps", "made up", versions=("0.5.16",))))
    assert judged(capability, phase=Phase.PREFILL).notes == (note,)
    assert judged(capability).notes == ()


def test_a_deviation_is_no_reason_and_is_of_the_layers_on_which_its_conditions_hold() -> None:
    known = KnownDeviation("errs", "made up", (Step.DECODE,), -1, ("0.5.16", "0.5.22"), when=(("sliding_window", (Span("2", None),)),))
    excepted = replace(known, unless=(("deterministic", ("wanted",)),))
    layers = (FULL, replace(FULL, name="window", sliding_window=8), replace(FULL, name="narrow", sliding_window=1))
    one = Deviation("errs", ("window",), (Step.DECODE,), -1, "made up")
    assert judged(Capability((), deviations=(known, excepted)), layers=layers).deviations == (one, one)
    assert judged(Capability((), deviations=(known, excepted)), layers=layers, features=("deterministic",)).deviations == (one,)
    assert judged(Capability((), deviations=(known,)), layers=layers, rules="0.5.23").deviations == ()
    assert judged(Capability((), deviations=(known,)), layers=(FULL,)).deviations == ()


def test_a_release_without_the_backend_says_what_became_of_it() -> None:
    capability = Capability((), versions=("0.5.16",), history="taken out by pull request 1")
    [reason] = judged(capability).reasons
    assert (reason.asked, reason.allowed, reason.source) == ("SGLang 0.5.22", "SGLang 0.5.16", "taken out by pull request 1")


@pytest.mark.parametrize("word", sorted(WORDS))
def test_an_unknown_value_of_every_word_is_called_unknown(word: str) -> None:
    assert "unknown" in asked_in_words(word, None, question()) or "{}" not in WORDS[word].text
