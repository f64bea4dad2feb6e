"""What one store holds taken into another: nothing doubled, nothing lost, nothing that nobody vouches for beside what was measured here."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.boards.calibrations import calibration_for, keep_machine_code, machine_code, save_calibration
from store.comparisons.side_by_side import SideBySide
from store.comparisons.side_by_sides import begin_side_by_side, finished_side_by_side
from store.database.connect import Store
from store.evidence.run_evidence import public
from store.exchange.export import items
from store.exchange.items import Item, Kind, Took
from store.exchange.joining import holds, joined
from store.exchange.taken_runs import value_of
from store.exchange.taking import take
from store.past.history import list_runs
from store.past.points import points_of
from store.runs.repository import begin_run, finished_runs, load_run, save_decision
from store.runs.run import FINISHED, FOREIGN, INCOMPLETE, RUNNING, Run
from tests.store.boards.test_calibrations import MADE, calibration
from tests.store.building import a_decision, a_round, a_run, all_trials, weighted
from tests.store.empty import database

FROM = {"file": "theirs.jsonl"}
BEGUN = a_run("r1", 1, 1)
WHOLE = replace(
    BEGUN,
    status=FINISHED,
    trials=all_trials(BEGUN),
    rounds=tuple(a_round(BEGUN, index) for index in range(3)),
    decision=a_decision(BEGUN),
    wall_seconds=(("timing", 30.5),),
)
PART = replace(WHOLE, status=RUNNING, rounds=WHOLE.rounds[:1], decision=None, wall_seconds=(("timing", 10.0),))
COMPARISON = SideBySide(
    *("c1", "d" * 64, FINISHED, "2026-01-02T03:04:05Z", "attnpin compare", ("a", "b")),
    *(replace(WHOLE, id="c1-baseline"), replace(WHOLE, id="c1-candidate")),
    together=False,
)
NUMBERS = itertools.count()


def fresh(folder: Path, *runs: Run) -> Store:
    made = database(folder / f"{next(NUMBERS)}.sqlite")
    for run in runs:
        begin_run(made, run, fresh=True)
    return made


def merged(into: Store, other: Store, trusted: bool = True) -> list[Took]:
    return [take(into, item, trusted, FROM) for item in items(other)]


def runs_of(store: Store) -> list[Run]:
    return [load_run(store, each.id) for each in list_runs(store)]


def said(store: Store) -> list[object]:
    """Everything, but for what it is called."""
    return sorted((item.kind.value, item.sha256) for item in items(store))


def test_a_whole_store_comes_over_as_it_was(store: Store, tmp_path: Path) -> None:
    other = fresh(tmp_path, WHOLE)
    begin_side_by_side(other, COMPARISON, fresh=True)
    save_calibration(other, calibration())
    keep_machine_code(other, "sm_90", "ab", b"\x00code")
    assert set(merged(store, other)) == {Took.ADDED}
    assert said(store) == said(other)
    assert set(merged(store, other)) == {Took.THERE}
    assert said(store) == said(other)


def test_what_went_on_elsewhere_is_added_to_what_is_here(store: Store, tmp_path: Path) -> None:
    begin_run(store, PART, fresh=True)
    assert merged(store, fresh(tmp_path, WHOLE)) == [Took.EXTENDED]
    assert load_run(store, "r1") == WHOLE
    assert merged(store, fresh(tmp_path, PART)) == [Took.THERE]
    assert load_run(store, "r1") == WHOLE


def test_cells_that_came_while_it_was_measured_come_over_with_their_weights(store: Store, tmp_path: Path) -> None:
    begin_run(store, PART, fresh=True)
    first = replace(WHOLE.cells[0], token_share=0.1)
    more = replace(WHOLE, cells=(first, weighted(7)))
    assert merged(store, fresh(tmp_path, more)) == [Took.EXTENDED]
    assert load_run(store, "r1") == more
    assert merged(store, fresh(tmp_path, PART)) == [Took.THERE]
    assert merged(store, fresh(tmp_path, WHOLE)) == [Took.THERE]


def test_every_decision_comes_over_and_the_newest_counts(store: Store, tmp_path: Path) -> None:
    begin_run(store, WHOLE, fresh=True)
    other = fresh(tmp_path, WHOLE)
    later = replace(a_decision(BEGUN), cautions=("thought over",))
    save_decision(other, "r1", later, FINISHED)
    (item,) = items(other)
    assert len(item.value["decisions"]) == 2
    assert merged(store, other) == [Took.EXTENDED] and load_run(store, "r1").decision == later
    assert merged(store, other) == [Took.THERE]


def test_a_run_that_went_on_in_two_ways_is_kept_in_both(store: Store, tmp_path: Path) -> None:
    begin_run(store, WHOLE, fresh=True)
    other = replace(WHOLE, rounds=(*WHOLE.rounds[:2], replace(WHOLE.rounds[2], seed=5)))
    assert merged(store, fresh(tmp_path, other)) == [Took.BESIDE]
    assert merged(store, fresh(tmp_path, other)) == [Took.THERE]
    assert [load_run(store, name).rounds for name in ("r1", "r1~2")] == [WHOLE.rounds, other.rounds]


def test_what_nobody_vouches_for_is_foreign_and_nothing_that_decides_comes_upon_it(store: Store, tmp_path: Path) -> None:
    other = fresh(tmp_path, WHOLE, replace(PART, id="r2"), replace(PART, id="r3", status=INCOMPLETE))
    begin_side_by_side(other, COMPARISON, fresh=True)
    assert set(merged(store, other, trusted=False)) == {Took.ADDED}
    assert {each.status for each in list_runs(store)} == {FOREIGN}
    assert finished_runs(store, WHOLE.digest) == () and finished_side_by_side(store, COMPARISON.digest) is None
    assert points_of(store, "fa3/p1", "decode_0") == ()
    mine = replace(PART, id="mine", rounds=())
    assert begin_run(store, mine, fresh=False, reopen=True) == mine


def test_what_would_have_a_say_in_decisions_is_left_out_unless_somebody_vouches_for_it(store: Store, tmp_path: Path) -> None:
    other = fresh(tmp_path)
    save_calibration(other, calibration())
    keep_machine_code(other, "sm_90", "ab", b"code")
    assert merged(store, other, trusted=False) == [Took.LEFT_OUT, Took.LEFT_OUT]
    assert machine_code(store, "sm_90", "ab") is None
    assert merged(store, other) == [Took.ADDED, Took.ADDED] and machine_code(store, "sm_90", "ab") == b"code"
    assert calibration_for(store, calibration().board, calibration().protocol, MADE) == calibration()


def test_a_run_of_ours_is_not_touched_by_what_nobody_vouches_for(store: Store, tmp_path: Path) -> None:
    begin_run(store, PART, fresh=True)
    assert merged(store, fresh(tmp_path, WHOLE), trusted=False) == [Took.BESIDE]
    assert load_run(store, "r1") == PART and load_run(store, "r1~2") == replace(WHOLE, id="r1~2", status=FOREIGN)
    assert merged(store, fresh(tmp_path, PART), trusted=False) == [Took.THERE]


def test_a_foreign_run_becomes_ours_when_somebody_vouches_for_it(store: Store, tmp_path: Path) -> None:
    other = fresh(tmp_path, WHOLE)
    merged(store, other, trusted=False)
    passed_on = fresh(tmp_path)
    merged(passed_on, store, trusted=False)
    assert load_run(passed_on, "r1").status == FOREIGN
    assert merged(store, passed_on) == [Took.VOUCHED] and load_run(store, "r1") == WHOLE
    assert merged(store, other, trusted=False) == [Took.THERE] and load_run(store, "r1") == WHOLE


def test_where_it_came_from_goes_with_it(store: Store, tmp_path: Path) -> None:
    merged(store, fresh(tmp_path, WHOLE), trusted=False)
    assert [item.origin for item in items(store)] == [FROM]


def test_the_evidence_of_a_run_that_is_here_adds_nothing(store: Store, tmp_path: Path) -> None:
    begin_run(store, WHOLE, fresh=True)
    item = Item(Kind.RUN, "r1", value_of(public(WHOLE)), reduced=True)
    assert take(store, item, False, FROM) is Took.THERE
    assert take(fresh(tmp_path), item, False, FROM) is Took.ADDED


def test_a_value_that_is_no_run_is_refused_and_nothing_is_stored(store: Store) -> None:
    with pytest.raises(ValueError):
        take(store, Item(Kind.RUN, "r1", {"run": {}, "decisions": []}), True, FROM)
    assert list_runs(store) == ()


# What databases may hold of two runs: how far each went, and whether its second round is another one.
STATES = st.lists(st.tuples(st.sampled_from(["r1", "r2"]), st.integers(0, 3), st.booleans()), max_size=3, unique_by=lambda each: each[0])


def states(drawn: Iterable[tuple[str, int, bool]]) -> list[Run]:
    found = []
    for name, count, other in drawn:
        rounds = tuple(replace(each, seed=9) if other and each.index == 1 else each for each in WHOLE.rounds[:count])
        whole = count == 3
        found.append(
            replace(WHOLE, id=name, rounds=rounds, status=FINISHED if whole else RUNNING, decision=WHOLE.decision if whole else None)
        )
    return found


@settings(max_examples=8)
@given(STATES, STATES)
def test_merging_loses_nothing_doubles_nothing_and_twice_is_once(
    ours: list[tuple[str, int, bool]], theirs: list[tuple[str, int, bool]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        into, other = fresh(Path(folder), *states(ours)), fresh(Path(folder), *states(theirs))
        merged(into, other)
        found = runs_of(into)
        for run in (*states(ours), *states(theirs)):
            assert any(holds(each, run) for each in found if each.id.partition("~")[0] == run.id)
        for one, two in itertools.combinations(found, 2):
            assert one.id.partition("~")[0] != two.id.partition("~")[0] or joined(one, two) is None
        before = said(into)
        assert set(merged(into, other)) <= {Took.THERE}
        assert said(into) == before


@settings(max_examples=40)
@given(STATES, STATES)
def test_to_join_is_the_same_from_either_side(ours: list[tuple[str, int, bool]], theirs: list[tuple[str, int, bool]]) -> None:
    for one, two in itertools.product(states(ours), states(theirs)):
        first, second = joined(one, replace(two, id=one.id)), joined(replace(two, id=one.id), one)
        assert first == second
        if first is not None:
            assert holds(first, one) and holds(first, two) and joined(first, first) == first
