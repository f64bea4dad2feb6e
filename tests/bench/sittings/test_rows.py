from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.measured import Soundness
from backends.wire import to_plain
from store.database.connect import open_store
from store.runs.repository import begin_run
from store.runs.run import RUNNING, Run
from tests.bench.sittings.building import CELLS, a_run, anchors, made_up, only_slowed_on
from tests.bench.sittings.cells import sitting_cells, slowed_cells
from tests.bench.sittings.rows import added, in_order, read_rows, sittings_in, write_rows
from tests.bench.sittings.sitting import Sitting, is_sitting, sitting_of
from tests.tuner.building import one_cell_each
from tuner.plan import make_plan
from tuner.settings import compose

SITTINGS = tuple(made_up(f"r{seed}", seed=seed, slowed=(), anchors=(anchors(230.0),)) for seed in (1, 2, 3))


def calibration(name: str = "r1") -> Run:
    return a_run(name, ("fa3",), {}, (0.05,), 4, 1, 1.0)


def test_a_sitting_is_twenty_cells_two_of_them_prefill() -> None:
    cells = sitting_cells(make_plan(compose(["model=qwen3_8b", "traffic=single_user", "gpu=h200", "backend=[fa3]"])))
    names = [weighted.cell.name for weighted in cells]
    assert len(set(names)) == 20 and [name for name in names if name.startswith("prefill")] == ["prefill-1x4096", "prefill-2x2048"]


def test_fifteen_sittings_slow_every_cell_three_times() -> None:
    run = calibration()
    twenty = replace(run, cells=tuple(replace(run.cells[0], cell=replace(run.cells[0].cell, name=f"c{place}")) for place in range(20)))
    turns = [slowed_cells(twenty, turn) for turn in range(15)]
    assert Counter(name for turn in turns for name in turn) == {weighted.cell.name: 3 for weighted in twenty.cells}


def test_of_probes_a_sitting_keeps_its_own_and_which_cells_were_slowed() -> None:
    run = only_slowed_on(("b",), calibration())
    sound = tuple(replace(trial, soundness=Soundness(slope=1.0)) for trial in run.trials)
    handed_on = tuple(replace(trial, probed_in="r0") for trial in sound)
    assert {each.cell for each in sitting_of(replace(run, trials=sound), ()).sound} == set(CELLS)
    kept = sitting_of(replace(run, trials=handed_on), ())
    assert kept.sound == () and kept.slowed_on == ("b",)


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl.zst"
    assert read_rows(file) == ()
    write_rows(reversed(SITTINGS), file)
    assert read_rows(file) == SITTINGS


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(SITTINGS), max_size=5), st.lists(st.sampled_from(SITTINGS), max_size=5))
def test_a_sitting_is_kept_once_however_often_it_is_added(known: list[Sitting], new: list[Sitting]) -> None:
    kept = added(added((), known), new)
    assert list(kept) == in_order(set(known) | set(new)) == list(added(kept, new))


def test_what_was_kept_first_stays() -> None:
    assert added(SITTINGS[:1], [replace(SITTINGS[0], gpu="another")]) == SITTINGS[:1]


def test_the_finished_calibrations_of_a_database_are_its_sittings(tmp_path: Path) -> None:
    store, run = open_store(f"sqlite:///{tmp_path}/attnpin.db"), calibration()
    asked = replace(run.scenario, measure=replace(run.scenario.measure, processes=5))
    for each in (run, replace(run, id="cut", scenario=asked, status=RUNNING), replace(one_cell_each({"fa3": (9.0, 5.0)}), id="tune")):
        begin_run(store, each, fresh=True)
    assert sittings_in(tmp_path / "attnpin.db") == (sitting_of(run, ()),)


def test_a_database_that_is_not_there_is_no_empty_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not there"):
        sittings_in(tmp_path / "attnpin.db")
    assert not list(tmp_path.iterdir())


def test_a_simulated_gpu_proves_nothing() -> None:
    run = calibration()
    board = replace(run.environment.board, driver="simulated")
    assert is_sitting(run) and not is_sitting(replace(run, environment=replace(run.environment, board=board)))


def test_what_is_kept_does_not_name_its_board() -> None:
    run = calibration()
    kept = sitting_of(run, ())
    assert run.environment.board.uuid and str(run.environment.board.uuid) not in str(to_plain(kept))
    assert kept.board == sitting_of(replace(run, id="later"), ()).board != made_up(board="GPU-1").board
