"""Who sits out the later pairs of a comparison, and that no label hangs on it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.measured import CellRound, Round, Trial
from backends.outcome import Outcome
from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import VersionVerdict
from tests.store.building import a_run, all_trials, environment
from tests.tuner.comparing.made import BLOCKS, Times, compared
from tuner.comparing.differences import Key, pairs_of
from tuner.comparing.judge import judge
from tuner.comparing.recorded import recorded
from tuner.comparing.sameness import controls
from tuner.comparing.sitting_out import needs_more, next_field
from tuner.verdicts.rule import rule_for

RUN = a_run(arms=3, cells=2)
RUN = replace(RUN, trials=all_trials(RUN))
FA3, FLASHINFER, TRITON = (arm.name for arm in RUN.arms)
FIRST, SECOND = (weighted.cell.name for weighted in RUN.cells)
GATE = rule_for("gate")
UPGRADES = Path(__file__).parents[3] / "examples" / "upgrade"
VISITS = 2 * BLOCKS  # of an arm on a cell, a side and a pair
Changes = dict[Key, tuple[float, float]]  # ln(new/old), and the sd of a pair's


def drawn(changes: Changes, seed: int = 1) -> Times:
    """What an arm takes in a pair hangs on nothing but the pair: on no other arm that is in it."""
    calls: Counter[tuple[int, str, str]] = Counter()

    def at(side: int, arm: str, cell: str, block: int, place: int) -> float:
        change, sd = changes.get((arm, cell), (0.0, 0.001))
        pair = calls[side, arm, cell] // VISITS
        calls[side, arm, cell] += 1
        return 4.6 + side * (change + random.Random(f"{seed}/{pair}/{arm}/{cell}").gauss(0, sd))

    return at


def whole(times: Times, everything: bool = False) -> SideBySide:
    """All pairs that there may be, of all arms. ``everything``: torch is another one, so that no arm is a control."""
    measured = compared(RUN, GATE.looks[-1], times)
    there = environment("0.6.1")
    return replace(measured, candidate=replace(measured.candidate, environment=replace(there, python="3.13.1") if everything else there))


def until(measured: SideBySide, rounds: int) -> SideBySide:
    baseline, candidate = (replace(run, rounds=run.rounds[:rounds]) for run in (measured.baseline, measured.candidate))
    return replace(measured, baseline=baseline, candidate=candidate)


def played(everyone: SideBySide) -> SideBySide:
    """The same pairs one after the other, each of those alone that are still timed."""
    measured = until(everyone, 0)
    while needs_more(measured, GATE):
        seats = {(each.arm.name, cell) for each in next_field(measured, GATE) for cell in each.cells}
        old, new = (only(pair, seats) for pair in pairs_of(everyone)[len(measured.baseline.rounds)])
        baseline = replace(measured.baseline, rounds=(*measured.baseline.rounds, old))
        measured = replace(measured, baseline=baseline, candidate=replace(measured.candidate, rounds=(*measured.candidate.rounds, new)))
    return measured


def only(measured: Round, seats: Collection[Key]) -> Round:
    return replace(measured, cells=tuple(kept for cell in measured.cells if (kept := _only(cell, seats)).launches))


def _only(cell: CellRound, seats: Collection[Key]) -> CellRound:
    def stays(arm: str) -> bool:
        return (arm, cell.cell) in seats

    return replace(
        cell,
        launches=tuple(each for each in cell.launches if stays(each[0])),
        visits=tuple(visit for visit in cell.visits if stays(visit.arm)),
        metadata_us=tuple(each for each in cell.metadata_us if stays(each[0])),
    )


def said(verdict: VersionVerdict) -> dict[tuple[str, str | None], object]:
    """Of rows that are no controls: label, reason, and every number they rest on."""
    return {(row.arm, row.cell): row.verdict for row in verdict.rows if not row.control}


def seats_of(measured: Round) -> set[Key]:
    return {(arm, cell.cell) for cell in measured.cells for arm, _ in cell.launches}


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), everything=st.booleans())
def test_every_verdict_is_what_it_would_be_had_all_arms_stayed(seed: int, everything: bool) -> None:
    rng = random.Random(seed)
    changes = {
        (arm.name, cell): (rng.choice((0, 0, 0.05, -0.05)), rng.choice((0.001, 0.01, 0.04))) for arm in RUN.arms for cell in (FIRST, SECOND)
    }
    everyone = whole(drawn(changes, seed), everything)
    measured = played(everyone)
    assert said(judge(measured, GATE)) == said(judge(until(everyone, len(pairs_of(measured))), GATE))


def test_recorded_pairs_say_the_same_without_those_that_would_sit_out() -> None:
    everyone = recorded(UPGRADES / "flashinfer-0.5.3-to-0.6.4-h200")
    measured = played(everyone)
    assert judge(measured, GATE).rounds == judge(everyone, GATE).rounds == 9
    assert said(judge(measured, GATE)) == said(judge(everyone, GATE))
    assert min(len(seats_of(each)) for each in measured.baseline.rounds) < len(seats_of(everyone.baseline.rounds[0]))


def test_a_settled_arm_sits_out_and_its_controls_stay_with_those_that_are_open() -> None:
    everyone = whole(drawn({(FLASHINFER, FIRST): (0.0, 0.05)}))
    measured = played(everyone)
    assert controls(measured) == {FA3, TRITON}
    rounds = measured.candidate.rounds
    assert len(rounds) == 9 and all(seats_of(each) == seats_of(everyone.candidate.rounds[0]) for each in rounds[:4])
    (later,) = {frozenset(seats_of(each)) for each in rounds[4:]}
    assert {(FLASHINFER, FIRST), (FA3, FIRST), (TRITON, FIRST)} <= later
    shares = {row.arm: row.verdict for row in judge(measured, GATE).rows if row.cell is None}
    assert ((FLASHINFER, SECOND) in later) is (shares[FLASHINFER].numbers.rounds > 4)


def test_what_sat_out_is_said_with_the_pairs_it_rests_on() -> None:
    measured = played(whole(drawn({(FLASHINFER, FIRST): (0.05, 0.001)}), everything=True))
    verdict = judge(measured, GATE)
    pairs = {(row.arm, row.cell): row.verdict.numbers.rounds for row in verdict.rows}
    assert verdict.rounds == 6 and pairs[FA3, FIRST] == pairs[TRITON, None] == 4 and pairs[FLASHINFER, FIRST] == 6
    (note,) = (each for each in verdict.notes if "sat out" in each)
    assert note == f"what is settled sat out the rest of 6 pairs: after 4 {FA3}, {TRITON}"


def test_where_every_arm_was_in_every_pair_nothing_is_said_of_it() -> None:
    verdict = judge(until(whole(drawn({})), 4), GATE)
    assert verdict.label is Label.EQUIVALENT and not any("sat out" in each for each in verdict.notes)


def test_all_cells_of_an_arm_stay_until_its_share_of_the_traffic_is_settled() -> None:
    """A cell that is noisy leaves the whole open."""
    measured = until(whole(drawn({(FLASHINFER, FIRST): (0.0, 0.08)}), everything=True), 4)
    (entrant,) = next_field(measured, GATE)
    assert (entrant.arm.name, entrant.cells) == (FLASHINFER, {FIRST, SECOND})


def test_an_arm_that_fails_in_a_later_pair_is_judged_on_none_of_its_earlier_ones() -> None:
    measured = until(whole(drawn({(FLASHINFER, FIRST): (0.0, 0.05)}), everything=True), 5)
    failed = tuple(Trial(TRITON, cell, Outcome.CRASHED, "SIGSEGV") for cell in (FIRST, SECOND))
    measured = replace(measured, candidate=replace(measured.candidate, trials=(*measured.candidate.trials, *failed)))
    verdict = judge(measured, GATE)
    assert TRITON not in {row.arm for row in verdict.rows} and {each.arm for each in verdict.broken} == {TRITON}
    assert TRITON not in {each.arm.name for each in next_field(measured, GATE)}


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_before_the_first_look_everybody_is_in(rounds: int) -> None:
    field = next_field(until(whole(drawn({})), rounds), GATE)
    assert [(each.arm.name, each.cells) for each in field] == [(arm.name, {FIRST, SECOND}) for arm in RUN.arms]
