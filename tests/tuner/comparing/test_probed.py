"""What a comparison need not probe, since an earlier run probed it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.environment import Board
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from tests.tuner.checking.upgraded import FA3, FLASHINFER, WAVE, here, measured, then
from tuner.comparing.probed import with_probes


def begun(old: Run, new: Run) -> SideBySide:
    bare = [replace(run, id=f"side-{number}", trials=(), rounds=()) for number, run in enumerate((old, new))]
    return SideBySide("c", "d", "running", "2026-12-01", "attnpin compare", ("old", "present"), *bare)


def upgraded(**versions: str) -> Run:
    return replace(measured(seed=4), id="today", environment=here(**versions))


def probed(*earlier: Run) -> list[set[tuple[str, str | None]]]:
    """Of the sides of an upgrade of FlashInfer: arms, and which run looked at them."""
    found = with_probes(begun(then(), upgraded(flashinfer_python="2")), earlier)
    return [{(trial.arm, trial.probed_in) for trial in side.trials} for side in (found.baseline, found.candidate)]


def test_each_arm_is_known_from_where_it_ran_on_the_same() -> None:
    before, today = then(), upgraded(flashinfer_python="2")
    assert probed(today, before) == [
        {(FA3, today.id), (WAVE, today.id), (FLASHINFER, before.id)},
        {(FA3, today.id), (WAVE, today.id), (FLASHINFER, today.id)},
    ]
    assert probed(before)[1] == {(FA3, before.id), (WAVE, before.id)}
    assert probed() == [set(), set()]


@pytest.mark.parametrize("change", [{"driver": "1"}, {"power_limit_w": 300.0}, {"name": "NVIDIA H20"}])
def test_nothing_is_known_from_another_board_or_driver(change: dict[str, object]) -> None:
    run = then()
    board: Board = replace(run.environment.board, **change)  # type: ignore[arg-type]
    assert probed(replace(run, environment=replace(run.environment, board=board))) == [set(), set()]


def test_from_another_board_of_the_same_kind_it_is() -> None:
    run = then()
    elsewhere = replace(run, environment=replace(run.environment, board=replace(run.environment.board, uuid="GPU-other")))
    assert probed(elsewhere) == probed(run) != [set(), set()]


def test_nothing_is_known_from_a_run_whose_checks_were_others() -> None:
    run = then()
    assert probed(replace(run, protocol=run.protocol - 1)) == [set(), set()]


def test_a_new_torch_touches_every_arm() -> None:
    assert probed(upgraded(torch="2", flashinfer_python="2")) == [set(), set()]


def test_another_cell_of_the_same_name_and_an_arm_that_is_called_otherwise_are_not_known() -> None:
    run = then()
    cells = tuple(replace(each, cell=replace(each.cell, page_layout="random")) for each in run.cells)
    assert probed(replace(run, cells=cells)) == [set(), set()]
    arms = tuple(replace(arm, packages=("another",)) if arm.name == FA3 else arm for arm in run.arms)
    assert {name for name, _ in probed(replace(run, arms=arms))[0]} == {FLASHINFER, WAVE}


def test_an_arm_that_chooses_by_timing_is_looked_at_again() -> None:
    run = then()
    tuned = tuple(replace(each, autotuned=(("kernel", "64"),)) if each.arm == FA3 else each for each in run.trials)
    assert {name for name, _ in probed(replace(run, trials=tuned))[0]} == {FLASHINFER, WAVE}
