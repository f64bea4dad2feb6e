"""Our half of the bench on a simulated GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backends.arm import Arm
from backends.cell import Phase
from backends.measured import CellRound, Visit
from backends.outcome import Outcome
from backends.wire import to_plain
from store.scenario import WeightedCell
from tests.bench import row_file
from tests.bench.step import agenda
from tests.bench.step.agenda import PATIENCE, REST, ROUND, STREAMED, TURNS, Task, needed_s, next_task
from tests.bench.step.cells import BACKENDS, Ground
from tests.bench.step.judge import ground, predicted, side
from tests.bench.step.measure import _round, measure
from tests.bench.step.rows import Row, read_rows
from tuner.workers.failure import Place as Where
from tuner.workers.failure import WorkerFailed

FEW = (Task(REST, 0), Task(ROUND, 0), Task(STREAMED, 0), Task(TURNS, 0))
LATE = Task(ROUND, 1)  # would not end in the time that is given


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Row]:
    folder = tmp_path_factory.mktemp("step")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agenda, "order", lambda: iter((*FEW, LATE)))
        patch.setattr("tests.bench.step.cells.BATCHES", (1,))
        patch.setattr("tests.bench.step.cells.INPUTS", (512,))
        patch.setattr("tests.bench.step.measure.needed_s", lambda rows, task: 1e9 if task == LATE else needed_s(rows, task))
        beside = Path(__file__).with_name("standin")
        measure(folder / "rows.jsonl", 600.0, ["gpu=simulated", f"engine.path=[{beside}]", f"store.url=sqlite:///{folder}/step.db"])
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
    assert needed_s(rows, Task(agenda.ENGINE, 1, "fa3")) == 61.0 and needed_s((), Task(REST, 0)) > 0
    assert 0 < needed_s([made(TURNS, 0, wall_s=100.0)], Task(TURNS, 1)) < 100.0  # what is done of it is kept


def test_rows_come_back_as_they_were_kept_but_for_a_line_that_was_cut_off(tmp_path: Path, rows: Sequence[Row]) -> None:
    file, kept = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.zst"
    for row in rows:
        row_file.append(row, file)
    with file.open("a") as lines:
        lines.write('{"kind": "eng')
    row_file.compress(read_rows(file), kept)
    assert tuple(rows) == read_rows(file) == read_rows(kept)


def test_a_round_goes_on_without_an_arm_that_fails_where_it_left_off(monkeypatch: pytest.MonkeyPatch) -> None:
    decode = tuple(each for each in ground().cells if each.phase is Phase.DECODE)[:3]
    asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def answer(place: object, arms: Sequence[Arm], question: dict[str, Any], streamed: object) -> Iterator[dict[str, Any]]:
        asked.append((tuple(arm.backend for arm in arms), tuple(cell.name for cell in question["cells"])))
        for cell in question["cells"]:
            if "fa4" in asked[-1][0] and cell == decode[1]:
                raise WorkerFailed(Outcome.CRASHED, "no kernel", Where("timing", "fa4/p1", cell.name))
            visits = tuple(Visit(0, at, arm.name, (10.0,)) for at, arm in enumerate(arms))
            timed = CellRound(cell.name, (), visits, tuple((arm.name, 1.0, 2.0) for arm in arms), True)
            yield {"event": "cell_round", "cell_round": to_plain(timed)}

    monkeypatch.setattr("tests.bench.step.measure._asked", answer)
    weighted = tuple(WeightedCell(cell, 1, 1.0, 1.0) for cell in decode)
    place = SimpleNamespace(ground=Ground(ground().arms, replace(ground().plan, cells=weighted)))
    calls, lacks = _round(place, Task(ROUND, 0))  # type: ignore[arg-type]
    names = [cell.name for cell in decode]
    assert [cells for _, cells in asked] == [tuple(names), tuple(names[1:])] and "fa4" not in asked[1][0]
    of = {backend: [call.cell for call in calls if call.backend == backend] for backend in ("fa3", "fa4")}
    assert of == {"fa3": names, "fa4": names[:1]}
    assert lacks == (f"fa4 on {names[1]}: no kernel",) and {call.metadata_us for call in calls} == {2.0}
