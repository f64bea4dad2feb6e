from __future__ import annotations

import statistics
from dataclasses import replace

import pytest
from sqlalchemy import text

from store.connect import Store, reading
from store.history import list_runs, median_by_distribution
from store.repository import add_round, begin_run, save_decision
from store.run import Run
from tests.store.building import a_decision, a_round, a_run


def measure(store: Store, run: Run, rounds: int = 2) -> Run:
    stored = begin_run(store, run, fresh=True)
    for index in range(rounds):
        add_round(store, stored.id, a_round(stored, index))
    return stored


def visit_medians(run: Run, rounds: int, arm: str, cell: str) -> list[float]:
    cells = [cell_round for index in range(rounds) for cell_round in a_round(run, index).cells if cell_round.cell == cell]
    return [statistics.median(visit.sample_us) for cell_round in cells for visit in cell_round.visits if visit.arm == arm]


def test_medians_of_a_backend_on_a_cell_come_by_the_version_of_a_library(store: Store) -> None:
    old, new = (measure(store, a_run(name, flashinfer=version)) for name, version in (("old", "0.6.13"), ("new", "0.6.14")))
    found = median_by_distribution(store, "flashinfer", old.cells[1].cell, "flashinfer-python")
    assert [(row.version, row.run, row.digest, row.board_uuid) for row in found] == [
        ("0.6.13", "old", "sha256:0.6.13", "GPU-5f0c"),
        ("0.6.14", "new", "sha256:0.6.14", "GPU-5f0c"),
    ]
    assert [(row.arm, row.rounds, row.visits) for row in found] == [("flashinfer/p1", 2, 4)] * 2
    for row, run in zip(found, (old, new)):
        assert row.median_us == pytest.approx(statistics.geometric_mean(visit_medians(run, 2, "flashinfer/p1", "decode_1")))


def test_a_cell_is_found_under_another_name_and_not_by_its_name(store: Store) -> None:
    run = measure(store, a_run())
    cell = run.cells[0].cell
    assert len(median_by_distribution(store, "fa3", replace(cell, name="elsewhere"), "torch")) == 1
    assert median_by_distribution(store, "fa3", replace(cell, dtype="float16"), "torch") == ()


def test_arms_of_one_backend_are_kept_apart(store: Store) -> None:
    run = a_run()
    measure(store, replace(run, arms=(run.arms[0], replace(run.arms[0], page_size=64))))
    assert [row.arm for row in median_by_distribution(store, "fa3", run.cells[0].cell, "torch")] == ["fa3/p1", "fa3/p64"]


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
