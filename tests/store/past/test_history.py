from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import event, text

from store.comparisons.side_by_side import SideBySide
from store.comparisons.side_by_sides import add_pair, begin_side_by_side
from store.database.connect import Store, reading
from store.digest import cell_digest
from store.past.history import count_runs, foreign_runs, list_runs, newest_own
from store.past.points import named_in, points_of
from store.runs.repository import add_round, begin_run, save_decision
from store.runs.run import FINISHED, FOREIGN, Run
from tests.store.building import a_decision, a_round, a_run


def measure(store: Store, run: Run, rounds: int = 2) -> Run:
    stored = begin_run(store, run, fresh=True)
    for index in range(rounds):
        add_round(store, stored.id, a_round(stored, index))
    return stored


def visit_medians(run: Run, rounds: int, arm: str, cell: str) -> list[float]:
    cells = [cell_round for index in range(rounds) for cell_round in a_round(run, index).cells if cell_round.cell == cell]
    return [statistics.median(visit.sample_us) for cell_round in cells for visit in cell_round.visits if visit.arm == arm]


def test_points_hold_what_ran_and_the_mean_of_each_process(store: Store) -> None:
    old, new = (measure(store, a_run(name, flashinfer=version)) for name, version in (("old", "0.6.13"), ("new", "0.6.14")))
    found = points_of(store, "flashinfer/p1", "decode_1")
    assert [(each.run, each.comparison, each.environment.distributions[0].version) for each in found] == [
        ("old", None, "0.6.13"),
        ("new", None, "0.6.14"),
    ]
    for point, run in zip(found, (old, new)):
        assert [index for index, _ in point.processes] == [0, 1] and not point.capped
        assert point.us == pytest.approx(statistics.geometric_mean(visit_medians(run, 2, "flashinfer/p1", "decode_1")))


def test_a_point_is_told_by_the_content_of_its_cell(store: Store) -> None:
    run = measure(store, a_run())
    other = a_run("r2")
    named_alike = replace(other.cells[0], cell=replace(other.cells[0].cell, dtype="float16"))
    measure(store, replace(other, cells=(named_alike, *other.cells[1:])))
    digests = [each.cell_digest for each in points_of(store, "fa3/p1", "decode_0")]
    assert digests[0] == cell_digest(run.cells[0].cell) and len(set(digests)) == 2
    assert points_of(store, "fa3/p1", "decode_9") == points_of(store, "fa3/p64", "decode_0") == ()
    assert named_in(store) == (("fa3/p1", "flashinfer/p1"), ("decode_0", "decode_1"))


def test_processes_after_the_choice_are_no_part_of_it(store: Store) -> None:
    run = measure(store, a_run())
    add_round(store, run.id, replace(a_round(run, 2), confirms=True))
    (point,) = points_of(store, "fa3/p1", "decode_0")
    assert len(point.processes) == 2


def test_of_a_run_on_several_boards_those_of_its_own_one_count(store: Store) -> None:
    run = measure(store, a_run())
    own = run.environment.board.uuid
    for index, board in ((2, own), (3, f"not {own}")):
        add_round(store, run.id, replace(a_round(run, index), board=board))
    (point,) = points_of(store, "fa3/p1", "decode_0")
    assert own is not None and [index for index, _ in point.processes] == [0, 1, 2]


def test_both_sides_of_a_comparison_count_and_are_listed_as_such(store: Store) -> None:
    old, new = a_run("old", flashinfer="0.6.13"), a_run("new")
    begun = SideBySide("c1", "d", "running", old.created, "attnpin compare", ("present", "x==1"), old, replace(new, digest="other"))
    begin_side_by_side(store, begun, fresh=True)
    add_pair(store, "c1", (a_round(old, 0), a_round(new, 0)))
    assert [(each.run, each.comparison) for each in points_of(store, "fa3/p1", "decode_0")] == [("old", "c1"), ("new", "c1")]
    assert [(each.id, each.side_of) for each in list_runs(store)] == [("new", "candidate of c1"), ("old", "baseline of c1")]


def test_the_same_can_be_asked_in_sql_alone(store: Store) -> None:
    measure(store, a_run())
    query = """
        SELECT d.version, count(*), avg(v.median_us) FROM attnpin_visits v
        JOIN attnpin_arms a ON a.key = v.arm_key
        JOIN attnpin_cell_rounds cr ON cr.key = v.cell_round_key
        JOIN attnpin_cells c ON c.key = cr.cell_key
        JOIN attnpin_distributions d ON d.run_key = a.run_key AND d.name = 'flashinfer-python'
        WHERE a.backend = 'flashinfer' AND c.name = 'decode_0' GROUP BY d.version
    """
    with reading(store) as session:
        ((version, visits, mean),) = session.execute(text(query)).all()
    assert (version, visits) == ("0.6.14", 4)
    assert mean == pytest.approx(statistics.fmean(visit_medians(a_run(), 2, "flashinfer/p1", "decode_0")))


def test_runs_are_listed_newest_first_with_how_far_they_came(store: Store) -> None:
    measure(store, a_run("r1"), rounds=1)
    done = measure(store, a_run("r2"), rounds=3)
    save_decision(store, done.id, a_decision(done), "finished")
    assert [(run.id, run.status, run.rounds, run.ruling, run.model) for run in list_runs(store)] == [
        ("r2", "finished", 3, "switch", "qwen3_8b"),
        ("r1", "running", 1, None, "qwen3_8b"),
    ]


def test_the_last_few_are_listed_alone(store: Store) -> None:
    for name in ("r1", "r2", "r3"):
        begin_run(store, a_run(name), fresh=True)
    assert [run.id for run in list_runs(store, 2)] == ["r3", "r2"] and count_runs(store) == 3


def test_the_newest_of_our_own_is_told_from_foreign_ones_and_from_those_without_a_decision(store: Store) -> None:
    assert newest_own(store) == (None, None)
    for name, status in (("decided", FINISHED), ("open", None), ("foreign", FOREIGN), ("undecided foreign", FOREIGN)):
        made = begin_run(store, a_run(name), fresh=True)
        if status is not None:
            save_decision(store, made.id, None if name.startswith("undecided") else a_decision(made), status)
    assert [run and run.id for run in newest_own(store)] == ["decided", "open"]
    assert [run.id for run in foreign_runs(store, "qwen3_8b", "chat", "NVIDIA H200", 9)] == ["foreign"]
    assert foreign_runs(store, "qwen3_8b", "rag", "NVIDIA H200", 9) == ()


def statements(store: Store, question: Callable[[Store], object]) -> int:
    asked: list[str] = []

    def ask(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        asked.append(statement)

    event.listen(store.engine, "before_cursor_execute", ask)
    question(store)
    event.remove(store.engine, "before_cursor_execute", ask)
    return len(asked)


def test_more_runs_take_no_more_statements(store: Store) -> None:
    questions = (list_runs, newest_own, lambda store: points_of(store, "fa3/p1", "decode_0"))
    measure(store, a_run("r1"))
    few = [statements(store, question) for question in questions]
    for name in ("r2", "r3", "r4"):
        measure(store, a_run(name))
    assert [statements(store, question) for question in questions] == few and all(few)
