"""Which process comes next."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from tests.bench.peers import oracle, ours
from tests.bench.peers.agenda import PATIENCE, RAISED, Task, next_task, order
from tests.bench.peers.cells import FLIPPED
from tests.bench.peers.made_up import Times, readings, rounds, row
from tests.bench.peers.peers import PLAIN, RAISING
from tests.bench.peers.rows import Row

ARMS = ("fa3/p1", "flashinfer/p1", "triton/p1")
CELL, CLEAR = "decode-64x4096", "decode-64x12288"
TRUE: Times = {CELL: dict(zip(ARMS, (100.0, 101.0, 200.0))), CLEAR: dict(zip(ARMS, (100.0, 150.0, 200.0)))}
CELLS = {1: (CELL, CLEAR), 2: ()}


def coming(rows: list[Row]) -> Task:
    task = next_task(rows, CELLS, ARMS)
    assert task is not None
    return task


def done(*kinds: tuple[str, int]) -> list[Row]:
    return [row(kind, index) for kind, index in kinds]


def test_everybody_has_his_turn_on_a_few_cells_before_the_others_come() -> None:
    first = list(takewhile(lambda place: place[1] == 1, order()))
    assert {kind for kind, _, _ in first} == {oracle.KIND, ours.KIND, "plain", "traced", "nvbench"}


def test_the_first_process_is_the_oracles_with_all_arms() -> None:
    assert coming([]) == Task(oracle.KIND, 1, 0, {CELL: ARMS, CLEAR: ARMS})


def test_a_process_that_is_there_is_not_measured_again_and_one_that_failed_is_but_once() -> None:
    assert coming(done((oracle.KIND, 0))).kind == ours.KIND
    failed = [row(oracle.KIND, 0, failed="gone")]
    assert coming(failed).kind == oracle.KIND
    assert coming(failed * PATIENCE).kind == ours.KIND


def test_an_arm_that_broke_a_process_on_a_cell_is_left_out_there_and_one_that_did_not_open_everywhere() -> None:
    lost = replace(row(oracle.KIND, 0, failed="wrong"), lost_arm=ARMS[1], lost_cell=CELL)
    assert coming([lost]).cells == {CELL: (ARMS[0], ARMS[2]), CLEAR: ARMS}
    assert coming([replace(lost, lost_cell=None)]).cells == dict.fromkeys((CELL, CLEAR), (ARMS[0], ARMS[2]))


def test_later_processes_of_the_oracle_time_what_is_near() -> None:
    places = [(kind, index) for kind, block, index in order() if block == 1]
    before = places[: places.index((oracle.KIND, 1))]
    task = coming([*rounds(oracle.KIND, TRUE, 1, sd=0.005), *done(*(place for place in before if place[0] != oracle.KIND))])
    assert (task.kind, task.index, task.cells) == (oracle.KIND, 1, {CELL: ARMS[:2]})


def test_repetitions_are_raised_where_a_tool_was_most_wrong() -> None:
    wrong: Times = {CLEAR: dict(zip(ARMS, (2.0, 1.0, 3.0)))}
    places = [(kind, index) for kind, block, index in order() if block == 1]
    before = places[: places.index(("plain", RAISING))]
    rest = done(*(place for place in before if place not in ((oracle.KIND, 0), ("plain", 0))))
    task = coming([*rounds(oracle.KIND, TRUE, 1), readings("span", wrong), *rest])
    assert (task.cells, task.tools, task.repeats) == ({CLEAR: ARMS}, ("span",), RAISED)
    assert "span" in PLAIN


def test_one_kind_may_be_asked_for_alone() -> None:
    task = next_task(done((oracle.KIND, 0), (ours.KIND, 0)), CELLS, ARMS, only=[ours.KIND])
    assert task is not None and (task.kind, task.index) == (ours.KIND, 1)


def test_when_all_is_there_nothing_comes() -> None:
    assert next_task(done(*((kind, index) for kind, _, index in order())), CELLS, ARMS) is None


def test_cells_that_are_picked_on_again_and_again_are_of_the_first_block() -> None:
    assert len(FLIPPED) == len(set(FLIPPED)) == 12
