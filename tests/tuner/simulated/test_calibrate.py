"""The whole of `attnpin calibrate`, and what a later tune makes of it."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median

import pytest

from backends.anchored import VISITS
from backends.timing.anchor_kernels import source_digest
from backends.wire import from_plain
from store.boards.calibration import Calibration
from store.boards.calibrations import calibration_for, machine_code
from store.database.connect import open_store
from store.runs.repository import load_run
from store.runs.run import Run
from tests.tuner.simulated.telling import TWO_ARMS, Told, told, tuned, url_in
from tuner.calibrate import AskedCalibration, run_calibrate
from tuner.calibrating.copies import on_cells
from tuner.calibrating.noise import noise_of, sigma_0
from tuner.settings import compose

PROCESSES = 2
SLOWED = 0.1


def calibrated(folder: Path, *more: str) -> Told:
    return told(folder, "calibrate", *TWO_ARMS, f"store.url={url_in(folder)}", "--processes", str(PROCESSES), *more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return calibrated(tmp_path_factory.mktemp("calibrated"), "--json", "--slowed", str(SLOWED))


@pytest.fixture(scope="module")
def calibration(finished: Told) -> Calibration:
    return from_plain(Calibration, json.loads(finished.out))


def run_of(finished: Told, calibration: Calibration) -> Run:
    return load_run(open_store(url_in(finished.folder)), calibration.run)


def test_every_arm_is_measured_beside_its_copy_in_every_process(finished: Told, calibration: Calibration) -> None:
    run = run_of(finished, calibration)
    assert finished.code == 0 and run.status == "finished" and run.decision is None
    names = {f"{backend}/p1{copy}" for backend in ("fa3", "flashinfer") for copy in ("", "#2", f"+{SLOWED}")}
    assert {arm.name for arm in run.arms} == names and len(run.rounds) == PROCESSES
    for measured in run.rounds:
        assert {visit.arm for cell in measured.cells for visit in cell.visits} == names


def test_what_it_says_is_what_its_rounds_say(finished: Told, calibration: Calibration) -> None:
    run = run_of(finished, calibration)
    assert calibration.noise == noise_of(run.arms, run.rounds) and calibration.sigma_0 == sigma_0(calibration.noise)
    assert len(calibration.noise) == 2 * len(run.cells) and {each.processes for each in calibration.noise} == {PROCESSES}


def test_a_copy_is_not_probed_and_has_its_originals_answers(finished: Told, calibration: Calibration) -> None:
    run = run_of(finished, calibration)
    trials = {(trial.arm, trial.cell): trial for trial in run.trials}
    assert len(trials) == len(run.trials) == len(run.arms) * len(run.cells)
    assert all(trials[arm.name, cell].cost == trials[arm.original_name, cell].cost for arm in run.arms for _, cell in trials)
    assert finished.err.count("probing fa3/p1: import") == 1


def test_a_slowed_copy_is_as_much_slower_as_it_was_to_be(finished: Told, calibration: Calibration) -> None:
    for measured in run_of(finished, calibration).rounds:
        for cell in measured.cells:
            us = {arm: fmean(math.log(median(visit.sample_us)) for visit in cell.visits if visit.arm == arm) for arm, _ in cell.launches}
            assert us[f"fa3/p1+{SLOWED}"] - us["fa3/p1"] == pytest.approx(math.log1p(SLOWED), abs=0.02)


def test_anchors_are_taken_before_and_after_and_their_machine_code_is_kept(finished: Told, calibration: Calibration) -> None:
    assert [len(each.read_us) for each in calibration.anchors] == [len(each.spin_us) for each in calibration.anchors] == [VISITS, VISITS]
    assert machine_code(open_store(url_in(finished.folder)), "sm_90", source_digest()) is not None


def test_a_calibration_of_other_cells_is_another_run(finished: Told, calibration: Calibration) -> None:
    run = run_of(finished, calibration)
    some, others = on_cells(run, run.cells[:2]), on_cells(run, run.cells[2:])
    assert some.cells == run.cells[:2] and len({run.digest, some.digest, others.digest}) == 3
    assert some.digest == on_cells(run, run.cells[1::-1]).digest


def test_a_later_tune_takes_its_noise_as_a_floor_and_says_so(finished: Told, calibration: Calibration) -> None:
    later = tuned(finished.folder)
    assert later.run.noise_floor == calibration.floor and later.run.id != calibration.run
    assert "this board's own (calibrated" in later.err and later.run.decision is not None
    assert any("this board's own (calibrated" in caution for caution in later.run.decision.cautions)


def test_it_is_found_by_the_board_it_was_made_on(finished: Told, calibration: Calibration) -> None:
    board = run_of(finished, calibration).environment.board
    assert calibration_for(open_store(url_in(finished.folder)), board, calibration.protocol, datetime.now(UTC)) == calibration


def test_cells_may_leave_and_take_turns_to_be_slowed_and_the_next_calibration_of_a_day_does_not_probe(tmp_path: Path) -> None:
    def staying(run: Run) -> Collection[str]:
        names = [weighted.cell.name for weighted in run.cells]
        return names[: max(0, len(names) - len(run.race))]

    def slowed_on(run: Run, turn: int) -> Collection[str]:
        return (run.cells[turn].cell.name,)

    asked = AskedCalibration(PROCESSES, (SLOWED,), cells=lambda plan: plan.cells[:2], slowed_on=slowed_on, staying=staying)
    settings = replace(compose([*TWO_ARMS[:3], "backend=[fa3]", *TWO_ARMS[4:]]), store_url=url_in(tmp_path))
    runs = [load_run(open_store(url_in(tmp_path)), run_calibrate(settings, asked).run) for _ in range(2)]
    for turn, run in enumerate(runs):
        first, second = (weighted.cell.name for weighted in run.cells)
        assert [{cell.cell for cell in measured.cells} for measured in run.rounds] == [{first, second}, {first}]
        launched = [(each.cell, arm) for measured in run.rounds for each in measured.cells for arm, _ in each.launches]
        assert {cell for cell, arm in launched if arm == f"fa3/p1+{SLOWED}"} == {(first, second)[turn]} and run.status == "finished"
    assert [{trial.probed_in for trial in run.trials} for run in runs] == [{None}, {runs[0].id}]


def test_two_fresh_processes_are_the_least(tmp_path: Path) -> None:
    refused = told(tmp_path, "calibrate", *TWO_ARMS, f"store.url={url_in(tmp_path)}", "--processes", "1")
    assert refused.code == 2 and "--processes" in refused.err
