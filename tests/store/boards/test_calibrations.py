from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backends.anchored import Anchors
from store.boards.calibration import ArmNoise, Calibration, NeighbourEffect, Neighbours, NoiseFloor, key_of
from store.boards.calibrations import calibration_for, keep_machine_code, machine_code, save_calibration
from store.database.connect import Store
from store.runs.repository import begin_run, load_run
from store.runs.run import PROTOCOL_VERSION
from tests.store.building import a_run, environment

BOARD = environment().board
MADE = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOISE = ArmNoise("fa3/p1", "fa3", "decode_0", 8, 0.0001, 0.001, 0.0012, 0.003, -0.2, False, 0.004, True)
ANCHORS = Anchors(4.3e12, 7.9e14, 1 << 30, (250.0, 251.0), (4000.0,), (61.0,))


def calibration(run: str = "r1", made: datetime = MADE) -> Calibration:
    created = made.isoformat(timespec="seconds")
    return Calibration(run, created, key_of(BOARD), PROTOCOL_VERSION, 0.003, (NOISE, replace(NOISE, lag1=None)), (ANCHORS, ANCHORS))


def found(store: Store, after_days: float = 1, protocol: int = PROTOCOL_VERSION, **board: Any) -> Calibration | None:
    return calibration_for(store, replace(BOARD, **board), protocol, MADE + timedelta(days=after_days))


def test_a_calibration_comes_back_as_it_was_kept(store: Store) -> None:
    assert found(store) is None
    save_calibration(store, calibration())
    assert found(store) == calibration()


def test_the_newest_counts(store: Store) -> None:
    save_calibration(store, calibration("later", MADE + timedelta(hours=1)))
    save_calibration(store, calibration("earlier"))
    newest = found(store)
    assert newest is not None and newest.run == "later"


def test_of_neighbours_the_newest_that_asked_about_them_tells(store: Store) -> None:
    asked = replace(calibration("asked"), neighbours=Neighbours(1, 8, 0.01, (NeighbourEffect("fa3/p1", "decode_0", 0.001, 0.002, 0.003),)))
    for each in (asked, calibration("later", MADE + timedelta(hours=1))):
        save_calibration(store, each)
    assert calibration_for(store, BOARD, PROTOCOL_VERSION, MADE + timedelta(days=1), neighbours=True) == asked


@pytest.mark.parametrize(("days", "holds"), [(29.9, True), (30.1, False)])
def test_it_holds_for_thirty_days(store: Store, days: float, holds: bool) -> None:
    save_calibration(store, calibration())
    assert (found(store, days) is not None) is holds


@pytest.mark.parametrize(
    "change", [{"uuid": "GPU-other"}, {"driver": "590.1"}, {"power_limit_w": 500.0}, {"mig": "1g.18gb"}, {"name": "NVIDIA B200"}]
)
def test_it_holds_for_that_board_as_it_was(store: Store, change: dict[str, Any]) -> None:
    save_calibration(store, calibration())
    assert found(store, **change) is None


def test_another_way_of_measuring_is_another_noise(store: Store) -> None:
    save_calibration(store, calibration())
    assert found(store, protocol=PROTOCOL_VERSION + 1) is None


def test_a_board_that_tells_nothing_is_found_by_its_name(store: Store) -> None:
    dumb = replace(BOARD, uuid=None, driver=None, power_limit_w=None)
    save_calibration(store, replace(calibration(), board=key_of(dumb)))
    assert calibration_for(store, dumb, PROTOCOL_VERSION, MADE) is not None


def test_machine_code_is_kept_once_an_architecture_and_source(store: Store) -> None:
    assert machine_code(store, "sm_90", "a") is None
    keep_machine_code(store, "sm_90", "a", b"\x7fELF\x00first")
    keep_machine_code(store, "sm_90", "a", b"second")
    keep_machine_code(store, "sm_90", "b", b"other")
    assert machine_code(store, "sm_90", "a") == b"\x7fELF\x00first"
    assert machine_code(store, "sm_90", "b") == b"other" and machine_code(store, "sm_80", "a") is None


def test_a_run_keeps_the_floor_it_took(store: Store) -> None:
    run = replace(a_run(), noise_floor=NoiseFloor(0.003, "r0", MADE.isoformat()))
    begin_run(store, run, fresh=False)
    assert load_run(store, run.id).noise_floor == run.noise_floor
