"""Which jobs have other boards for their rounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from store.boards.calibration import Calibration, NeighbourEffect, Neighbours, key_of
from store.boards.calibrations import save_calibration
from store.database.connect import Store, open_store
from store.runs.run import PROTOCOL_VERSION
from tests.store.building import environment
from tests.tuner.composed import composed
from tuner.command_line.hydra_app import _job, _many
from tuner.executors.place import Place
from tuner.rounds.lending import lending
from tuner.rounds.lent import nobody

HOME = environment()


def calibrated(store: Store, moved: float) -> None:
    effects = (NeighbourEffect("fa3/p1", "decode-64", moved, 0.003, 0.003),)
    found = Neighbours(1, 8, 0.0, effects)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    save_calibration(store, Calibration("r1", now, key_of(HOME.board), PROTOCOL_VERSION, 0.006, (), (), found))


def lends(store: Store, place: Place) -> bool:
    session: Any = None
    return lending(replace(composed("gpu=h200"), executor=place), store, session, HOME, "a test") is not nobody


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"sqlite:///{tmp_path}/attnpin.db")


def test_a_job_has_its_own_board_alone_until_the_user_says_otherwise(store: Store) -> None:
    assert not lends(store, Place()) and lends(store, Place(exclusive_host=False))
    assert not lends(store, Place(exclusive_host=False, device="GPU-1"))  # of a sweep, which has a scenario on every GPU


@pytest.mark.parametrize(("moved", "harmless"), [(0.001, True), (0.02, False)])
def test_a_calibration_says_it_too_where_it_found_neighbours_harmless(store: Store, moved: float, harmless: bool) -> None:
    calibrated(store, moved)
    assert lends(store, Place()) is harmless and lends(store, Place(kind="slurm")) is harmless


def test_on_ray_it_is_a_scenario_that_is_the_only_one_of_its_sweep(store: Store) -> None:
    assert lends(store, Place(kind="ray", spread=True)) and not lends(store, Place(kind="ray", exclusive_host=False))


def test_one_scenario_for_another_place_is_run_as_a_sweep_and_its_job_is_not() -> None:
    asked = ["model=qwen3_8b", "executor=ray"]
    assert _many(asked) == (asked, None) and _many(["model=qwen3_8b", "executor=local"]) is None
    assert _many([*asked, "executor.since='2026-01-02'"]) is None


@pytest.mark.parametrize(
    ("words", "is_job"),
    [
        (["executor.since='2026-01-02'"], True),
        ([], False),
        (["executor.since='2026-01-02'", "--cfg", "job"], False),
        (["executor.since='2026-01-02'", "hydra.run.dir=."], False),
        (["executor.since='2026-01-02'", "--multirun"], False),
    ],
)
def test_what_a_sweep_began_and_asks_nothing_of_hydra_itself_is_composed_once(words: list[str], is_job: bool) -> None:
    assert (_job(["model=qwen3_8b", *words]) is not None) is is_job
