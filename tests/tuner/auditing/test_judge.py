from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.cell import Phase
from backends.measured import Round
from backends.outcome import Outcome
from backends.reason import Reason
from store.decision import Interval
from store.engines.recorded_reason import Expected, Shape
from store.runs.run import Run
from store.scenario import Exclusion, Role
from store.verdicts.audit import Basis, ReasonVerdict, Relation
from tests.bench.statistics.row import Row
from tests.tuner.auditing.reasons import NAMED, RULE, SLOW, audit_run, found_in, here
from tests.tuner.building import DECIDE, DECODE, ENGINE, PREFILL, Recipe, arm, build, decode, prefill
from tuner.auditing.judge import found, judged, of_relation
from tuner.deciding.contest import contest_of
from tuner.deciding.incumbent import incumbent
from tuner.deciding.scores import cell_ratio
from tuner.deciding.table import table_of

Verdict = ReasonVerdict
PLAIN = (500.0, 100.0, 44.0)
LONG = Shape(Phase.PREFILL, 1, 8192)
WRONG = {"expected": Expected.WRONG, "phases": (Phase.PREFILL,), "shapes": (LONG,)}
RUNS, CHANCE = 80, 1e-3
NAMED_PREFILL = prefill("reason-prefill-1x8192", new=8192, tokens=0.0, calls=0.0)


@pytest.mark.parametrize(
    ("us", "verdict", "basis"),
    [
        (44.5, Verdict.VOID, Basis.ROUNDS),
        (70.0, Verdict.VOID, Basis.ROUNDS),
        (88.0, Verdict.INCONCLUSIVE, Basis.ROUNDS),
        (132.0, Verdict.HOLDS, Basis.ROUNDS),
    ],
)
def test_a_reason_holds_from_its_recorded_size_on_as_sure_as_the_rounds_are(us: float, verdict: Verdict, basis: Basis) -> None:
    seen = found_in(audit_run(PLAIN, (500.0, 100.0, us)))
    (relation,) = seen.relations
    assert (seen.verdict, relation.basis, relation.where) == (verdict, basis, NAMED.cell.name)
    assert relation.ratio == pytest.approx(us / 44.0, rel=0.02) and relation.interval is not None
    assert (relation.chosen_value, relation.against_value) == (pytest.approx(44.0, rel=0.02), pytest.approx(us, rel=0.02))


def test_what_is_too_near_to_the_size_is_inconclusive_and_says_from_where_the_reason_holds() -> None:
    seen = found_in(audit_run(PLAIN, (500.0, 100.0, 88.0)))
    assert seen.says == "what was seen lies too near to 2.000 times, from where the reason holds"


def test_the_cell_that_a_reason_names_counts_and_not_the_traffic() -> None:
    """Ragged batches may be slow for reasons of their own."""
    assert found_in(audit_run(PLAIN, (500.0, 300.0, 45.0))).verdict is Verdict.VOID


def test_a_run_without_the_named_cell_is_judged_by_the_phase_of_the_traffic() -> None:
    run = build(Recipe((arm("fa3"), arm("flashinfer")), {("fa3/p1", DECODE): 100.0, ("flashinfer/p1", DECODE): 250.0}, (decode(),)))
    seen = found_in(run)
    assert seen.verdict is Verdict.HOLDS and seen.relations[0].where == "the traffic's decode cells, per 1000 output tokens"
    assert seen.relations[0].unit == "ms"


def test_a_recorded_cell_of_that_very_shape_is_known_without_its_name() -> None:
    alike = decode("decode-64", context=4096)
    seen = found_in(audit_run(PLAIN, (500.0, 100.0, 132.0), named=alike))
    assert [each.where for each in seen.relations] == ["the traffic's decode cells, per 1000 output tokens"]
    guard = replace(alike, calls_per_1000_tokens=0.0, token_share=0.0)
    assert [each.where for each in found_in(audit_run(PLAIN, (500.0, 100.0, 132.0), named=guard)).relations] == ["decode-64"]


def test_a_claim_without_a_size_needs_more_than_a_tie() -> None:
    claim = {"slower_by": 0.0, "shapes": ()}
    verdicts = [found_in(audit_run(PLAIN, (500.0, us, 44.0), process_sd=1e-4), **claim).verdict for us in (97.0, 100.0, 101.0, 103.0)]
    assert verdicts == [Verdict.VOID, Verdict.VOID, Verdict.INCONCLUSIVE, Verdict.HOLDS]


def test_each_phase_of_a_claim_is_looked_at() -> None:
    both = {"phases": tuple(Phase), "slower_by": 0.0, "shapes": ()}
    seen = found_in(audit_run(PLAIN, (650.0, 80.0, 44.0)), **both)
    assert {each.phase for each in seen.relations} == set(Phase) and seen.verdict is Verdict.HOLDS


def test_an_arm_too_slow_to_race_is_known_by_its_probe() -> None:
    """Such as FlashInfer 0.6.1 on Hopper: 561 us after 45."""
    run = audit_run(PLAIN, (500.0, 1300.0, 561.0))
    seen = found_in(replace(run, rounds=tuple(map(without_flashinfer, run.rounds))))
    assert (seen.verdict, [each.basis for each in seen.relations]) == (Verdict.HOLDS, [Basis.PROBES])
    assert seen.relations[0].ratio == pytest.approx(561.0 / 44.0)


def without_flashinfer(measured: Round) -> Round:
    cells = (replace(cell, visits=tuple(visit for visit in cell.visits if visit.arm == "fa3/p1")) for cell in measured.cells)
    return replace(measured, cells=tuple(cells))


def test_an_arm_that_failed_leaves_the_reason_untested_with_its_outcome() -> None:
    failed = {("flashinfer/p1", NAMED.cell.name): (Outcome.OUT_OF_MEMORY, "cannot allocate 20 GiB")}
    seen = found_in(audit_run(PLAIN, PLAIN, failures=failed))
    assert (seen.verdict, seen.relations) == (Verdict.UNTESTABLE, ())
    assert seen.says == "flashinfer/p1 on reason-decode-64x4096: out of memory: cannot allocate 20 GiB"


def test_one_process_tests_nothing() -> None:
    seen = found_in(audit_run(PLAIN, (500.0, 100.0, 132.0), processes=1))
    assert seen.verdict is Verdict.UNTESTABLE and seen.says.startswith("fewer than two processes timed both")


def test_an_arm_served_in_another_mode_is_not_compared() -> None:
    modes = {("flashinfer/p1", NAMED.cell.name): "eager", ("flashinfer/p1", DECODE): "eager"}
    run = audit_run(PLAIN, (500.0, 100.0, 132.0), modes=modes)
    seen = found_in(run)
    assert seen.verdict is Verdict.UNTESTABLE and "served in eager mode, fa3/p1 in graph mode" in seen.says


def test_a_backend_that_is_no_arm_of_the_run_is_named_with_its_exclusion() -> None:
    limit = Exclusion("flashinfer", None, (Reason("sm", "sm 90", "sm 100", "take a B200", "made up"),))
    run = build(Recipe((arm("fa3"),), {("fa3/p1", DECODE): 100.0}, (decode(),), exclusions=(limit,)))
    assert found_in(run).says == "sm 90 was asked, sm 100 is allowed (made up); take a B200"


def test_a_phase_that_is_not_served_says_nothing() -> None:
    run = build(Recipe((arm("fa3"),), {("fa3/p1", PREFILL): 500.0}, (prefill(),), engine=replace(ENGINE, role=Role.PREFILL)))
    seen = found_in(run)
    assert (seen.verdict, seen.says) == (Verdict.UNTESTABLE, "nothing of it was measured")


def test_a_reason_about_answers_holds_where_one_is_wrong() -> None:
    wrong = {("flashinfer/p1", NAMED_PREFILL.cell.name): (Outcome.INCORRECT, "relative error 0.3 is above 0.001")}
    seen = found_in(audit_run(PLAIN, PLAIN, named=NAMED_PREFILL, failures=wrong), **WRONG)
    assert seen.verdict is Verdict.HOLDS
    assert seen.says == "flashinfer/p1 on reason-prefill-1x8192: incorrect: relative error 0.3 is above 0.001"


def test_a_reason_about_answers_is_void_where_those_it_names_are_right() -> None:
    seen = found_in(audit_run(PLAIN, PLAIN, named=NAMED_PREFILL), **WRONG)
    assert (seen.verdict, seen.says) == (Verdict.VOID, "flashinfer/p1 answers rightly (relative error 1.0e-03) on reason-prefill-1x8192")


def test_right_answers_on_other_cells_say_nothing_of_a_reason_about_answers() -> None:
    seen = found_in(audit_run(PLAIN, PLAIN), **WRONG)
    assert (seen.verdict, seen.says) == (Verdict.UNTESTABLE, "none of the cells that the reason names was measured")
    crashed = {("flashinfer/p1", PREFILL): (Outcome.CRASHED, "SIGSEGV")}
    assert found_in(audit_run(PLAIN, PLAIN, failures=crashed), **WRONG).says == "flashinfer/p1 on prefill_4k: crashed: SIGSEGV"
    alone = build(Recipe((arm("fa3"),), {("fa3/p1", DECODE): 100.0}, (decode(),)))
    assert found_in(alone, **WRONG).says == "the run had no arm of it at page size 1"


NAMED_CELLS = tuple(decode(f"reason-decode-64x{1024 * each}", context=1024 * each, tokens=0.0, calls=0.0) for each in range(1, 9))
NAMED_SHAPES = tuple(Shape(Phase.DECODE, 64, weighted.cell.context_lens[0]) for weighted in NAMED_CELLS)


def just_twice_as_slow(seed: int) -> Run:
    """On every cell at exactly the size that was recorded."""
    cells = (decode(context=512), *NAMED_CELLS)
    times = {(f"{name}/p1", each.cell.name): us for each in cells for name, us in (("fa3", 100.0), ("flashinfer", 200.0))}
    return build(Recipe((arm("fa3"), arm("flashinfer")), times, cells, process_sd=0.01, seed=seed))


def test_a_reason_that_is_just_not_true_holds_as_rarely_on_many_cells_as_on_one() -> None:
    """Were each judged by itself, one run in five would show it on some cell."""
    by_itself = together = 0
    for run in map(just_twice_as_slow, range(RUNS)):
        contest = contest_of(run, table_of(run), incumbent(run), ())
        found = [cell_ratio(contest, "flashinfer/p1", "fa3/p1", weighted.cell.name) for weighted in NAMED_CELLS]
        by_itself += any(each is not None and each.low >= 2.0 for each in found)
        together += judged(run, contest, RULE, here(shapes=NAMED_SHAPES)).verdict is Verdict.HOLDS
    claims = [Row("", "false", "", 0, 1 - DECIDE.confidence, seen, RUNS) for seen in (by_itself, together)]
    assert [claim.refuted(CHANCE) for claim in claims] == [True, False]


def test_the_interval_of_a_relation_says_at_what_confidence_it_was_judged() -> None:
    for shapes in (NAMED_SHAPES[:1], NAMED_SHAPES):
        intervals = [each.interval for each in found_in(just_twice_as_slow(0), shapes=shapes).relations]
        shared = 1 - (1 - DECIDE.confidence) / len(shapes)
        assert [each and each.confidence for each in intervals] == [pytest.approx(shared)] * len(shapes)


def relation(ratio: float, half: float | None = None) -> Relation:
    interval = None if half is None else Interval(ratio, ratio - half, ratio + half, 0.95, 4)
    basis = Basis.FIGURES if interval is None else Basis.ROUNDS
    return Relation(Phase.DECODE, "somewhere", "fa3", "flashinfer", 1.0, ratio, "us", ratio, interval, basis)


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.9, Verdict.VOID), (1.97, Verdict.INCONCLUSIVE), (2.03, Verdict.INCONCLUSIVE), (2.2, Verdict.HOLDS)]
)
def test_a_reported_figure_must_lie_well_beyond_the_size(ratio: float, verdict: Verdict) -> None:
    assert of_relation(relation(ratio), SLOW, DECIDE) is verdict


def test_what_is_known_of_one_cell_and_not_of_another_is_inconclusive_unless_it_holds() -> None:
    for ratio, verdict in ((1.0, Verdict.INCONCLUSIVE), (3.0, Verdict.HOLDS)):
        assert found(RULE, here(), (relation(ratio, 0.01), "fa3 crashed"), DECIDE).verdict is verdict


@given(st.lists(st.tuples(st.floats(0.1, 9.0), st.floats(0.001, 0.05)), min_size=1, max_size=4), st.randoms())
def test_the_order_of_cells_changes_no_verdict_and_a_slower_cell_never_voids_a_reason_that_holds(cells, random) -> None:
    relations = [relation(ratio, half) for ratio, half in cells]
    verdict = found(RULE, here(), relations, DECIDE).verdict
    random.shuffle(relations)
    assert found(RULE, here(), relations, DECIDE).verdict is verdict
    slower = found(RULE, here(), [*relations, relation(10.0, 0.01)], DECIDE).verdict
    assert slower is Verdict.HOLDS
