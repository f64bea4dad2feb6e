"""Today's times against a pin's, on times whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from backends.anchored import Anchors
from backends.measured import Round
from store.database.connect import open_store
from store.runs.repository import begin_run
from store.runs.run import Run
from store.verdicts.comparison import Label, Why
from store.verdicts.version_verdict import Row
from tests.tuner.building import DECODE, rescaled
from tests.tuner.checking.upgraded import FA3, FLASHINFER, QUIET, TIMES, WAVE, launching, measured, rests, screen, then, times
from tuner.checking.screen import Screen
from tuner.checking.screened import notes_of, rival_rows, served_rows
from tuner.checking.sittings import sitting_noise
from tuner.verdicts.session import FEWEST, FLOOR, assumed


def of_decode(rows: tuple[Row, ...]) -> Row:
    (row,) = (row for row in rows if row.cell == DECODE)
    return row


def label(factor: float) -> Label:
    found = screen(measured(times(flashinfer=factor), seed=4))
    return of_decode(served_rows(found)).verdict.label


@pytest.mark.parametrize(
    ("factor", "said"), [(1.2, Label.REGRESSED), (0.8, Label.IMPROVED), (1.0, Label.EQUIVALENT), (1.025, Label.SUSPECT)]
)
def test_a_change_is_called_what_it_is(factor: float, said: Label) -> None:
    assert label(factor) is said


def test_what_moved_the_whole_board_is_no_change_of_an_arm() -> None:
    row = of_decode(served_rows(screen(rescaled(measured(seed=4), 1.1))))
    assert row.verdict.label is Label.EQUIVALENT and row.new / row.old == pytest.approx(1.1, rel=0.01)


def test_the_objective_of_what_is_served_is_corrected_by_the_shares_of_its_cells() -> None:
    whole = served_rows(screen(rescaled(measured(times(flashinfer=1.2), seed=4), 1.1)))[-1]
    ends = then().cells
    decode, prefill = (each.calls_per_1000_tokens * each.layers * us for each, us in zip(ends, (50.0, 500.0)))
    truth = math.log((1.2 * decode + prefill) / (decode + prefill))
    assert whole.cell is None and whole.verdict.numbers.estimate == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize("factor", [0.5, 1.01, 2.0])
def test_a_common_factor_changes_no_estimate(factor: float) -> None:
    new = measured(times(flashinfer=1.05), seed=4)
    plain, scaled = (of_decode(served_rows(screen(each))).verdict.numbers.estimate for each in (new, rescaled(new, factor)))
    assert scaled == pytest.approx(plain, abs=1e-9)


def test_without_an_arm_that_nothing_touched_the_board_is_not_taken_off_and_that_is_said() -> None:
    alone = measured({name: TIMES[name] for name in ("flashinfer",)}, seed=4)
    found = screen(rescaled(alone, 1.1))
    assert of_decode(served_rows(found)).verdict.numbers.estimate == pytest.approx(math.log(1.1), abs=0.01)
    assert any(note.startswith("no arm that nothing touched was measured on any cell") for note in notes_of(found))


def anchored(run: Run, factor: float) -> Run:
    """``run`` with kernels around it that took longer by ``factor``, as the board did."""
    around = tuple(
        Anchors(4e12, 8e14, 1 << 30, *((us * factor * (1 + 0.0005 * visit),) for us in (230.0, 4000.0, 64.0))) for visit in (0, 1)
    )
    spread = tuple(replace(each, read_us=each.read_us * 10, multiply_us=each.multiply_us * 10) for each in around)
    return replace(run, anchors=spread)


@pytest.mark.parametrize(("factor", "comparable"), [(1.02, True), (1.05, False)])
def test_without_an_arm_that_nothing_touched_kernels_that_never_change_tell_what_the_board_moved_by(
    factor: float, comparable: bool
) -> None:
    alone = rescaled(measured({"flashinfer": TIMES["flashinfer"]}, seed=4), factor)
    found = screen(anchored(alone, factor), anchored(then(), 1.0))
    assert of_decode(served_rows(found)).verdict.numbers.estimate == pytest.approx(0.0, abs=0.01)
    assert any("moved by is taken off by kernels that never change alone" in note for note in notes_of(found))
    assert (found.apart((FLASHINFER, DECODE)) is None) is comparable


def test_kernels_of_one_sitting_alone_take_nothing_off() -> None:
    alone = rescaled(measured({"flashinfer": TIMES["flashinfer"]}, seed=4), 1.02)
    assert of_decode(served_rows(screen(anchored(alone, 1.02)))).verdict.numbers.estimate == pytest.approx(math.log(1.02), abs=0.01)


def test_an_arm_that_nothing_touched_knows_better_than_kernels_that_never_change() -> None:
    found = screen(anchored(rescaled(measured(seed=4), 1.1), 1.02), anchored(then(), 1.0))
    assert of_decode(served_rows(found)).verdict.numbers.estimate == pytest.approx(0.0, abs=0.01)


def test_an_arm_whose_code_changed_is_no_control_although_nothing_touched_it() -> None:
    before = launching(then())
    found = Screen(before, launching(measured(seed=4), wave=7), rests(before), QUIET)
    assert found.controls[DECODE] == (FA3,) and screen(measured(seed=4)).controls[DECODE] == (FA3, WAVE)


def left_after(run: Run, arm: str, processes: int) -> Run:
    """``arm`` was in no more than so many processes."""

    def without(measured: Round) -> Round:
        cells = [replace(cell, visits=tuple(visit for visit in cell.visits if visit.arm != arm)) for cell in measured.cells]
        return measured if measured.index < processes else replace(measured, cells=tuple(cells))

    return replace(run, rounds=tuple(map(without, run.rounds)))


@pytest.mark.parametrize(
    ("old", "why"),
    [
        (left_after(then(), FLASHINFER, 2), "2 processes on one side, 3 are needed"),
        (replace(then(), protocol=1), "the stored times follow protocol 1"),
        (then(times(fa3=1.05)), "arms that nothing touched moved apart by 5"),
        (then(labels=("power capped",)), "the power cap set the clock of one side alone"),
        (then(modes={(FLASHINFER, DECODE): "eager"}), "flashinfer/p1 on decode_b64 was served in another mode (eager and graph)"),
    ],
)
def test_sides_that_were_not_measured_alike_are_not_compared_and_it_is_said_why(old: Run, why: str) -> None:
    found = Screen(old, measured(times(flashinfer=3.0), seed=4), rests(then()), QUIET)
    row = of_decode(served_rows(found))
    assert (row.verdict.label, row.verdict.why) == (Label.INCONCLUSIVE, Why.INCOMPARABLE)
    assert any(note.startswith(why) for note in notes_of(found))


def test_a_rival_that_left_the_race_is_compared_in_the_processes_it_was_in() -> None:
    unset = then({"fa3": (500.0, 50.0), "flashinfer": (520.0, 60.0)})
    faster = measured({"fa3": (500.0, 50.0), "flashinfer": (520.0, 30.0)}, seed=4)
    found = Screen(left_after(unset, FLASHINFER, 3), faster, rests(unset), QUIET)
    assert served_rows(found) == ()
    decode = of_decode(rival_rows(found))
    assert (decode.arm, decode.verdict.label, decode.verdict.numbers.rounds) == (FLASHINFER, Label.IMPROVED, 3)


def test_sittings_of_the_pins_own_versions_tell_how_much_sittings_differ_once_there_are_enough(tmp_path: Path) -> None:
    """Whatever the whole board moves by between two of them is not their noise: the other arms show it too."""
    store, run = open_store(f"sqlite:///{tmp_path}/a.db"), then()
    for number in range(2 * FEWEST):
        assert sitting_noise(store, run, run) == assumed(same_board=True)
        begin_run(store, replace(rescaled(measured(seed=number), 1 + 0.01 * number), id=f"run{number}", digest=run.digest), fresh=True)
    found = sitting_noise(store, run, run)
    assert found.df == FEWEST and FLOOR <= found.sigma < assumed(same_board=True).sigma
    board = replace(run.environment.board, uuid="GPU-1")
    elsewhere = replace(run, environment=replace(run.environment, board=board))
    assert sitting_noise(store, run, elsewhere) == assumed(same_board=False)
