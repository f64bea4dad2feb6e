"""The whole sitting on a simulated GPU."""

from __future__ import annotations

import pytest

from tests.bench.peers import agenda, oracle, ours
from tests.bench.peers.cells import FLIPPED, SMALL
from tests.bench.peers.measure import SIMULATED, expected_s, measure
from tests.bench.peers.oracle import truths
from tests.bench.peers.rows import Row, read_rows
from tests.bench.peers.score import results

ORDER = ((oracle.KIND, 1, 0), ("plain", 1, 0), (ours.KIND, 1, 0))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    file = tmp_path_factory.mktemp("peers") / "rows.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agenda, "order", lambda: iter(ORDER))
        measure(file, SMALL, 600.0, ["gpu=simulated"])
    return read_rows(file)


def test_each_process_leaves_a_row_of_all_its_cells_and_arms(rows: tuple[Row, ...]) -> None:
    assert [(row.kind, row.block, row.index) for row in rows] == list(ORDER)
    assert all(row.failed is None and 0 < row.start_s < row.wall_s for row in rows)
    cells = {timed.cell for timed in rows[0].timed}
    assert cells < set(FLIPPED) and len(cells) == 6
    assert {(reading.cell, reading.arm) for reading in rows[1].readings} == {(timed.cell, timed.arm) for timed in rows[0].timed}


def test_a_simulated_gpu_is_timed_by_a_visit_instead_of_a_tool(rows: tuple[Row, ...]) -> None:
    assert {reading.tool for reading in rows[1].readings} == set(SIMULATED)
    assert all(reading.us and reading.error is None for reading in rows[1].readings)


def test_the_simulated_truth_is_found_by_all(rows: tuple[Row, ...]) -> None:
    assert {truth.best for truth in truths(rows).values()} == {"fa3/p1"}
    found = results(rows)
    assert {result.name for result in found} == {"quick", "gate", *SIMULATED}
    assert all(set(result.regrets.values()) == {0.0} for result in found)


def test_a_process_is_expected_to_take_what_the_last_of_its_kind_took_cell_for_cell(rows: tuple[Row, ...]) -> None:
    last, task = rows[1], agenda.Task("plain", 2, 0, dict.fromkeys("abcdefghijkl", ("fa3/p1",)))
    assert expected_s(rows, task) == pytest.approx(last.start_s + 2 * (last.wall_s - last.start_s))
    assert expected_s((), task) > 60
