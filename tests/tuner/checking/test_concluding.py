"""From what was found to the answer: its word, its exit code, what to do."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from backends.outcome import Outcome
from store.decision import Ruling
from store.runs.run import Run
from store.verdicts.checked import Action, Answer, Checked, Ground
from store.verdicts.verdict import Bearing, KnownIssue, Status, Verdict
from tests.tuner.building import DECODE, PREFILL
from tests.tuner.checking.upgraded import FLASHINFER, QUIET, TIMES, UPGRADE, launching, measured, rests, then, times
from tests.tuner.comparing.made import compared
from tuner.checking import concluding
from tuner.checking.answering import after, next_of
from tuner.checking.pinned import Pinned
from tuner.checking.settled import without_measuring
from tuner.checking.ways_out import NextCall
from tuner.comparing.judge import judge
from tuner.decide import decide
from tuner.pin import pin_of
from tuner.verdicts.rule import rule_for

CHANGED = Verdict(Status.CHANGED, (UPGRADE,), "flashinfer-python changed", 3)
ISSUE = KnownIssue("slow", Bearing.SERVED, "it is slow", "it does not split", ("take 0.6.4",), ("https://example.org",))


def pinned(run: Run | None = None) -> Pinned:
    before = run or then()
    assert before.decision is not None
    return Pinned(pin_of(before, before.decision, ("e", "0")), before, rests(before))


def answered(new: Run, of: Pinned | None = None, fast: Verdict = CHANGED) -> Checked:
    return concluding.by_times(of or pinned(), fast, replace(new, decision=decide(new)), QUIET)


@pytest.mark.parametrize(
    ("new", "answer", "code", "action"),
    [
        (measured(times(flashinfer=1.0), seed=4), Answer.EQUIVALENT, 0, Action.KEEP),
        (measured(times(flashinfer=0.8), seed=4), Answer.IMPROVED, 0, Action.KEEP),
        (measured(times(flashinfer=1.2), seed=4), Answer.REGRESSED, 1, Action.KEEP),  # and still the fastest
        (measured(times(flashinfer=3.0), seed=4), Answer.REGRESSED, 1, Action.UNSET),
        (measured(times(flashinfer=1.025), seed=4), Answer.SUSPECT, 3, Action.KEEP),
        (measured(failures={(FLASHINFER, DECODE): (Outcome.INCORRECT, "NaN")}), Answer.WRONG, 5, Action.UNSET),
        (measured(failures={(FLASHINFER, DECODE): (Outcome.CRASHED, "SIGSEGV")}), Answer.REGRESSED, 1, Action.UNSET),
    ],
)
def test_the_answer_is_of_what_is_served_and_the_decision_of_all_that_was_measured(
    new: Run, answer: Answer, code: int, action: Action
) -> None:
    found = answered(new)
    assert (found.answer, found.exit_code) == (answer, code)
    assert found.next is not None and found.next.action is action


def test_a_rival_that_overtook_what_is_served_makes_the_pin_stale_and_one_that_fell_back_does_not() -> None:
    unset = pinned(then({"fa3": (500.0, 50.0), "flashinfer": (520.0, 60.0)}))
    overtaken = answered(measured({"fa3": (500.0, 50.0), "flashinfer": (520.0, 25.0)}, seed=4), unset)
    assert (overtaken.answer, overtaken.exit_code) == (Answer.STALE, 3)
    assert overtaken.next is not None and overtaken.next.action is Action.SWITCH
    assert overtaken.sentence.endswith("; but prefill fa3/p1, decode flashinfer/p1 is surely faster by now")
    behind = answered(measured({"fa3": (500.0, 50.0), "flashinfer": (520.0, 180.0)}, seed=4), unset)
    assert (behind.answer, behind.exit_code) == (Answer.EQUIVALENT, 0)
    assert behind.sentence == "what is served launches what it launched, only what the pin was decided against changed"


def test_a_cell_on_which_the_machine_code_is_the_same_is_no_suspect_whatever_its_time() -> None:
    """By chance one in ten would be."""
    before = launching(then())
    found = answered(launching(measured(times(flashinfer=1.025), seed=4)), pinned(before))
    assert (found.answer, found.served) == (Answer.EQUIVALENT, ())


def test_without_the_default_nothing_is_decided_and_nothing_may_be_written() -> None:
    new = measured({"flashinfer": TIMES["flashinfer"]}, seed=4)
    found = answered(new)
    assert found.next is not None and found.next.action is Action.NONE
    decided = replace(new, decision=decide(new))
    assert decided.decision is not None and decided.decision.ruling is Ruling.INCOMPLETE and not concluding.may_be_written(decided)


@pytest.mark.parametrize(
    ("fast", "answer", "code"),
    [
        (Verdict(Status.UNCHANGED, (), "all as it was", 0), Answer.HOLDS, 0),
        (replace(CHANGED, status=Status.INCOMPARABLE), Answer.INCOMPARABLE, 3),
        (replace(CHANGED, status=Status.REFUSED, exit_code=1), Answer.REFUSED, 1),
        (replace(CHANGED, changes=(replace(UPGRADE, what="config.json", touches=("every arm",)),)), Answer.CHANGED, 3),
        (CHANGED, None, None),
        (replace(CHANGED, status=Status.KNOWN_BAD, exit_code=1), None, None),  # what is measured here counts for more
    ],
)
def test_nothing_is_measured_where_times_would_not_help(fast: Verdict, answer: Answer | None, code: int | None) -> None:
    found = without_measuring(fast, then(), rests(then()), ())
    assert (found and found.answer, found and found.exit_code) == (answer, code)


def test_an_upgrade_beside_the_pin_is_named_and_holds() -> None:
    found = without_measuring(Verdict(Status.UNCHANGED, (), "all as it was", 0), then(), rests(then()), ("wave",))
    assert found is not None and found.sentence == "wave changed and touches no arm the pin rests on: it holds as measured"


def test_stored_times_that_do_not_settle_it_call_for_both_versions_and_an_arm_that_does_not_run_does_not() -> None:
    crashed = measured(failures={(FLASHINFER, DECODE): (Outcome.CRASHED, "SIGSEGV")})
    rival = measured(times(flashinfer=3.0), failures={("fa3/p1", PREFILL): (Outcome.CRASHED, "SIGSEGV")})
    for new, wanted in ((measured(times(flashinfer=3.0), seed=4), True), (measured(seed=4), False), (crashed, False), (rival, False)):
        assert concluding.calls_for_both(answered(new), pinned()) is wanted


@pytest.mark.parametrize(
    ("pairs", "factor", "answer", "code"),
    [(9, 1.2, Answer.REGRESSED, 1), (9, 1.0, Answer.EQUIVALENT, 0), (2, 1.05, Answer.SUSPECT, 3)],
)
def test_a_sitting_with_both_versions_counts_and_what_it_leaves_open_stays_suspect(
    pairs: int, factor: float, answer: Answer, code: int
) -> None:
    of, new = pinned(), measured(times(flashinfer=1.2), seed=4)
    both = compared(of.then, pairs, lambda side, arm, *_: math.log(100 * (factor if side and arm == FLASHINFER else 1.0)))
    before = answered(new, of)
    after = concluding.by_both(before, of, replace(new, decision=decide(new)), both, judge(both, rule_for("gate")))
    assert (after.answer, after.exit_code, after.ground) == (answer, code, Ground.SIDE_BY_SIDE)
    assert after.confirmed is not None and after.served == before.served


def test_what_neither_stored_times_nor_one_sitting_can_tell_is_no_suspicion() -> None:
    of, new = pinned(), measured(seed=4)
    both = compared(of.then, 2, lambda side, arm, *_: math.log(100 * (1.05 if side and arm == FLASHINFER else 1.0)))
    before = replace(answered(new, of), answer=Answer.INCONCLUSIVE)
    after = concluding.by_both(before, of, replace(new, decision=decide(new)), both, judge(both, rule_for("gate")))
    assert (after.answer, after.exit_code) == (Answer.INCONCLUSIVE, 3)


def test_ways_out_are_those_that_are_known_then_todays_decision_then_the_versions_of_then() -> None:
    found = answered(measured(times(flashinfer=3.0), seed=4), fast=replace(CHANGED, issues=(ISSUE,)))
    assert concluding.with_ways_out(found, NextCall("p.yaml", ("flashinfer-python==1",))).ways_out == (
        "take 0.6.4",
        "set nothing, by today's rounds: attnpin check --pin p.yaml --write",
        "hold flashinfer-python==1 as the pin was measured: attnpin export --pin p.yaml --to constraints",
    )
    both = [
        concluding.with_ways_out(replace(found, answer=Answer.SUSPECT), NextCall("p.yaml", ("a==1",), asked)).ways_out[-1]
        for asked in ("", "model=m")
    ]
    command = "measure both versions in one sitting: attnpin compare --baseline a==1 --candidate present"
    assert both == [command, f"{command} model=m"]
    written = concluding.with_ways_out(replace(found, written=True), NextCall("p.yaml", ()))
    assert written.ways_out == ("take 0.6.4",)


def test_a_pin_that_was_written_anew_does_not_name_the_versions_of_then_any_more() -> None:
    found = replace(answered(measured(times(flashinfer=3.0), seed=4)), written=True)
    said = "hold a==1 as the pin was measured that this one replaced: its constraints are those of the old file"
    assert concluding.with_ways_out(found, NextCall("p.yaml", ("a==1",))).ways_out == (said,)


def test_what_one_sitting_left_open_wants_more_pairs() -> None:
    found = replace(answered(measured(times(flashinfer=1.025), seed=4)), ground=Ground.SIDE_BY_SIDE)
    asked = "model=m measure=quick"
    way = "measure more pairs of both versions: attnpin compare --baseline a==1 --candidate present model=m measure=release"
    assert concluding.with_ways_out(found, NextCall("p.yaml", ("a==1",), asked)).ways_out[-1] == way
    assert "attnpin compare" not in str(concluding.with_ways_out(found, NextCall("p.yaml", ("a==1",), "measure=release")).ways_out)


def test_the_old_versions_are_taken_again_from_the_folder_that_has_them() -> None:
    found = answered(measured(times(flashinfer=1.025), seed=4))
    way = "attnpin compare --baseline a==1 --candidate present --wheels '/old wheels' model=m"
    assert concluding.with_ways_out(found, NextCall("p.yaml", ("a==1",), "model=m", "/old wheels")).ways_out[-1].endswith(f": {way}")


def test_what_holds_the_versions_of_a_simulated_gpu_is_no_file_for_a_server() -> None:
    found = answered(measured(times(flashinfer=3.0), seed=4))
    assert concluding.with_ways_out(found, NextCall("p.yaml", ("a==1",), made_up=True)).ways_out[-1] == "hold a==1 as the pin was measured"


def test_why_it_was_not_measured_side_by_side_is_in_the_first_line() -> None:
    found = concluding.unconfirmed(answered(measured(times(flashinfer=1.025), seed=4)), "driver changed too")
    assert found.answer is Answer.SUSPECT and found.sentence.endswith("; not measured side by side: driver changed too")


def test_the_order_of_flags_makes_no_other_decision() -> None:
    of = pinned()
    assert of.then.decision is not None
    turned = replace(of.then.decision, flags=of.then.decision.flags[::-1])
    assert next_of(of.pin, turned).action is Action.KEEP


@pytest.mark.parametrize(
    ("answer", "only", "action"),
    [
        (Answer.REGRESSED, "flashinfer", Action.NONE),
        (Answer.SUSPECT, "flashinfer", Action.NONE),
        (Answer.REGRESSED, None, Action.KEEP),
        (Answer.EQUIVALENT, "flashinfer", Action.KEEP),
    ],
)
def test_where_it_got_slower_and_nothing_else_was_measured_that_it_stays_is_no_decision(
    answer: Answer, only: str | None, action: Action
) -> None:
    of = pinned()
    coming = after(answer, of.pin, of.then.decision, only)
    assert coming is not None and (coming.action, coming.alone) == (action, action is Action.NONE)
    assert ("no alternative to flashinfer was measured" in coming.because) is coming.alone


def test_of_a_pin_of_one_backend_the_way_out_asks_for_all_of_them() -> None:
    found = answered(measured(times(flashinfer=1.2), seed=4))
    assert found.next is not None and not found.next.alone
    alone = replace(found, next=replace(found.next, action=Action.NONE, flags=(), alone=True))
    asked = "model=m 'backend=[flashinfer]' engine.attention_backend=flashinfer 'engine.path=[/opt/a b]'"
    ways = concluding.with_ways_out(alone, NextCall("p.yaml", ("a==1",), asked)).ways_out
    assert ways[0] == "measure what else can serve here: attnpin tune model=m 'engine.path=[/opt/a b]'"
