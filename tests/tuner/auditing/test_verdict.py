from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from backends.outcome import Outcome
from store.decision import Pair
from store.engines.rule_path import RuleStep
from store.plan import Plan
from store.verdicts.audit import Basis, DefaultFound, DefaultVerdict, ReasonFound, ReasonVerdict, Relation
from tests.tuner.auditing.reasons import NAMED, RULE, audit_of, audit_run, here
from tests.tuner.building import DECODE, one_cell_each
from tests.tuner.scenarios import SERVER, scenario
from tuner.auditing.default import undecided
from tuner.auditing.steps import recorded
from tuner.auditing.verdict import audit_of_run, decision_of, exit_code, unmeasured
from tuner.decide import decide

PLAIN = (500.0, 100.0, 44.0)
FA3 = Pair("fa3", "fa3")


def test_a_void_reason_leaves_a_default_that_nothing_beats() -> None:
    """fa3 on an H200 since FlashInfer 0.6.4."""
    found = audit_of(audit_run(PLAIN, (650.0, 101.0, 45.0)))
    assert [reason.verdict for reason in found.reasons] == [ReasonVerdict.VOID]
    assert (found.default.default, found.default.verdict, found.default.use) == (FA3, DefaultVerdict.KEEP, None)
    assert found.default.because.startswith("no arm beat the default") and found.exit_code == 0


def test_a_reason_that_holds_leaves_the_default_too() -> None:
    found = audit_of(audit_run(PLAIN, (650.0, 300.0, 132.0)))
    assert ([reason.verdict for reason in found.reasons], found.default.verdict) == ([ReasonVerdict.HOLDS], DefaultVerdict.KEEP)
    assert found.exit_code == 0


def test_a_default_that_is_slower_in_one_phase_is_split_by_phase() -> None:
    found = audit_of(audit_run(PLAIN, (650.0, 40.0, 20.0)))
    assert (found.default.verdict, found.default.use) == (DefaultVerdict.SLOWER, Pair("fa3", "flashinfer"))
    assert dict(found.default.flags) == {"prefill-attention-backend": "fa3", "decode-attention-backend": "flashinfer"}
    assert "faster, predicted" in found.default.because and found.exit_code == 1


def test_a_default_may_be_wrong_although_its_reason_holds() -> None:
    """The reason speaks of one shape, the default is judged by the traffic."""
    found = audit_of(audit_run(PLAIN, (650.0, 40.0, 132.0)))
    assert ([reason.verdict for reason in found.reasons], found.default.verdict) == ([ReasonVerdict.HOLDS], DefaultVerdict.SLOWER)


def test_what_a_reason_names_guards_no_pick() -> None:
    run = audit_run(PLAIN, (650.0, 40.0, 132.0))
    assert decide(run).pick == Pair("fa3/p1", "fa3/p1") and decision_of(run).pick == Pair("fa3/p1", "flashinfer/p1")


def test_a_gain_that_may_and_may_not_be_there_is_inconclusive() -> None:
    run = audit_run(PLAIN, (650.0, 93.0, 45.0), process_sd=0.05, seed=5)
    found = audit_of(run)
    assert (found.default.verdict, found.exit_code) == (DefaultVerdict.INCONCLUSIVE, 3)
    assert "inconclusive" in found.default.because


def test_a_tie_is_an_answer() -> None:
    run = one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (500.0, 100.0)}, process_sd=1e-4)
    decision = decide(run)
    assert len(decision.tie_set) > 1 and not undecided(run, decision)


def test_a_pair_that_left_the_race_leaves_nothing_open() -> None:
    run = audit_run(PLAIN, (650.0, 93.0, 45.0), process_sd=0.05, seed=5)
    decision = decision_of(run)
    left = tuple(replace(score, dropped=None if score.pair == decision.default else "left the race") for score in decision.scores)
    assert undecided(run, decision) and not undecided(run, replace(decision, scores=left))


def test_a_default_that_was_not_measured_is_not_judged() -> None:
    failed = {("fa3/p1", DECODE): (Outcome.CRASHED, "SIGSEGV")}
    found = audit_of(audit_run(PLAIN, PLAIN, failures=failed))
    assert (found.default.verdict, found.exit_code) == (DefaultVerdict.UNTESTED, 3)
    assert "fa3/p1 on decode_b64: crashed: SIGSEGV" in found.default.because


def test_a_reason_that_was_stuck_before_measuring_keeps_its_verdict() -> None:
    stuck = ReasonFound("other", here(), ReasonVerdict.UNTESTABLE, (), "attnpin cannot drive it")
    found = audit_of_run(audit_run(PLAIN, (650.0, 101.0, 45.0)), ((RULE, here()), ("other", here())), (stuck,))
    assert [(reason.rule, reason.verdict) for reason in found.reasons] == [(RULE, ReasonVerdict.VOID), ("other", ReasonVerdict.UNTESTABLE)]
    assert found.exit_code == 3


def test_an_audit_says_what_it_is_of() -> None:
    found = audit_of(audit_run(PLAIN, PLAIN))
    assert found.on == "made_up_8b on NVIDIA H200, chat traffic" and found.basis == "run run1, 4 fresh processes"
    assert (found.engine, found.engine_version, found.rules_version, found.run) == ("sglang", "0.5.16", "0.5.16", "run1")


def test_the_steps_with_a_reason_are_the_audited_ones() -> None:
    steps = [RuleStep(name, "always", "base fa3", "because", "somewhere", reason) for name, reason in (("one", None), ("two", here()))]
    assert recorded(steps) == (("two", here()),)


@pytest.mark.parametrize(
    ("verdict", "default", "code"),
    [
        (ReasonVerdict.VOID, DefaultVerdict.KEEP, 0),
        (ReasonVerdict.HOLDS, DefaultVerdict.KEEP, 0),
        (ReasonVerdict.HOLDS, DefaultVerdict.SLOWER, 1),
        (ReasonVerdict.INCONCLUSIVE, DefaultVerdict.SLOWER, 1),
        (ReasonVerdict.INCONCLUSIVE, DefaultVerdict.KEEP, 3),
        (ReasonVerdict.UNTESTABLE, DefaultVerdict.KEEP, 3),
        (ReasonVerdict.VOID, DefaultVerdict.INCONCLUSIVE, 3),
        (ReasonVerdict.UNTESTABLE, DefaultVerdict.UNTESTED, 3),
    ],
)
def test_the_exit_code_is_1_for_a_wrong_default_alone_and_3_where_something_is_open(
    verdict: ReasonVerdict, default: DefaultVerdict, code: int
) -> None:
    use = Pair("fa3", "flashinfer") if default is DefaultVerdict.SLOWER else None
    assert exit_code((ReasonFound(RULE, here(), verdict, (), "so it is"),), DefaultFound(FA3, default, "", use)) == code


@pytest.mark.parametrize("reasons", [(), (ReasonFound(RULE, here(), ReasonVerdict.UNTESTABLE, (), "no driver"),)])
def test_where_nothing_is_measured_nothing_is_told(reasons: tuple[ReasonFound, ...]) -> None:
    run, asked = audit_run(PLAIN, PLAIN), scenario()
    plan = Plan(asked, run.default, SERVER, run.arms, (), (), run.cells, (), None, (), ())  # type: ignore[arg-type]
    found = unmeasured(plan, None, reasons)
    assert (found.exit_code, found.default.verdict, found.run) == (3, DefaultVerdict.UNTESTED, None)
    assert found.default.because.startswith("none of the reasons" if reasons else "no reason that can be measured is recorded")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: found(ReasonVerdict.UNTESTABLE), "the reason of made.up: cannot be tested here, and nothing says why"),
        (lambda: found(ReasonVerdict.HOLDS), "the reason of made.up: holds, and nothing says why"),
        (lambda: DefaultFound(FA3, DefaultVerdict.SLOWER, ""), "the verdict 'slower' on a default needs backends to use instead"),
        (lambda: DefaultFound(FA3, DefaultVerdict.KEEP, "", FA3), "the verdict 'keep' on a default has no backends to use instead"),
        (lambda: replace(MEASURED, interval=None), "a relation by rounds needs an interval"),
        (lambda: replace(MEASURED, basis=Basis.FIGURES), "a relation by figures has no interval"),
    ],
)
def test_what_contradicts_itself_is_refused(made: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        made()


def found(verdict: ReasonVerdict) -> ReasonFound:
    return ReasonFound(RULE, here(), verdict, ())


MEASURED: Relation = audit_of(audit_run(PLAIN, PLAIN, named=NAMED)).reasons[0].relations[0]
