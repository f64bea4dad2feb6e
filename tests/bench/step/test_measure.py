"""Our half of the bench on a simulated GPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from backends.cell import Phase
from tests.bench import row_file
from tests.bench.step import agenda
from tests.bench.step.agenda import PATIENCE, REST, ROUND, TRIAL, Task, expected_s, next_task
from tests.bench.step.cells import BACKENDS
from tests.bench.step.judge import ground, predicted, side
from tests.bench.step.measure import measure
from tests.bench.step.rows import Row, read_rows

FEW = (Task(REST, 0), Task(ROUND, 0), Task(TRIAL, 0, "flashinfer"))
LATE = Task(ROUND, 1)  # would not end in the time that is given


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Row]:
    folder = tmp_path_factory.mktemp("step")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agenda, "order", lambda: iter((*FEW, LATE)))
        patch.setattr("tests.bench.step.cells.BATCHES", (1,))
        patch.setattr("tests.bench.step.cells.INPUTS", (512,))
        patch.setattr("tests.bench.step.measure.expected_s", lambda rows, task: 1e9 if task == LATE else expected_s(rows, task))
        measure(folder / "rows.jsonl", 600.0, ["gpu=simulated", f"store.url=sqlite:///{folder}/step.db"])
    return read_rows(folder / "rows.jsonl")


def test_each_process_leaves_one_row_and_none_begins_that_would_not_end_in_time(rows: Sequence[Row]) -> None:
    assert [(row.kind, row.index, row.arm) for row in rows] == [(task.kind, task.index, task.arm) for task in FEW]
    assert all(row.failed is None and row.wall_s > 0 for row in rows) and len({row.sitting for row in rows}) == 1


def test_calls_metadata_and_the_rest_make_a_step(rows: Sequence[Row]) -> None:
    assert {call.backend for call in rows[1].calls} == set(BACKENDS) - {"fa4"}  # which no simulated GPU has
    timed = [each for each in ground().plan.cells if each.cell.name.endswith("-1x512")]
    assert {each.cell.phase for each in timed} == {Phase.DECODE, Phase.PREFILL}
    for weighted in timed:
        found = predicted(rows, weighted, "flashinfer")
        assert found is not None and found.attention_ms > 0 and found.metadata_ms is not None
        other = predicted(rows, weighted, "triton")
        assert other is not None and other.metadata_ms is None


def test_a_pair_is_predicted_from_its_two_backends(rows: Sequence[Row]) -> None:
    decode = next(each for each in ground().plan.cells if each.cell.phase is Phase.DECODE)
    assert predicted(rows, decode, "fa4/fa3") == predicted(rows, decode, "fa3")
    assert side("fa4/fa3", Phase.PREFILL) == side("fa4", Phase.PREFILL) == "fa4"


def made(kind: str, index: int, arm: str | None = None, failed: str | None = None, wall_s: float = 50.0) -> Row:
    return Row(kind, index, arm, "a", "NVIDIA H200", (), wall_s, failed=failed)


def test_an_arm_that_fails_at_first_is_asked_twice_and_the_others_go_on() -> None:
    rows = [made(agenda.ENGINE, 0, "fa3")] + [made(agenda.ENGINE, 0, "triton", "no memory")] * PATIENCE
    found = []
    while (task := next_task(rows, [agenda.ENGINE])) and task.index < 2:
        found.append((task.index, task.arm))
        rows.append(made(task.kind, task.index, task.arm))
    assert found == [(0, "flashinfer"), (0, "fa4"), (0, "fa4/fa3"), (1, "fa4/fa3"), (1, "fa4"), (1, "flashinfer"), (1, "fa3")]


def test_a_process_is_expected_to_take_as_long_as_its_like() -> None:
    rows = [made(agenda.ENGINE, 0, "fa3", wall_s=61.0), made(agenda.ENGINE, 0, "triton", wall_s=90.0)]
    assert expected_s(rows, Task(agenda.ENGINE, 1, "fa3")) == 61.0 and expected_s((), Task(REST, 0)) > 0


def test_rows_come_back_as_they_were_kept_but_for_a_line_that_was_cut_off(tmp_path: Path, rows: Sequence[Row]) -> None:
    file, kept = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.zst"
    for row in rows:
        row_file.append(row, file)
    with file.open("a") as lines:
        lines.write('{"kind": "eng')
    row_file.compress(read_rows(file), kept)
    assert tuple(rows) == read_rows(file) == read_rows(kept)
