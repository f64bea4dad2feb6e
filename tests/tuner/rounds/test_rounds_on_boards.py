"""Whole jobs with real workers on several simulated boards of this machine: some ten seconds of one core in all. What is measured where
and when is otherwise tested without any (`test_ahead`, tests/tuner/racing/test_beside.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.database.connect import open_store
from store.past.history import list_runs
from tests.tuner.rounds.boards import SIX_ROUNDS, check_every_round_once, decided, times
from tests.tuner.simulated.telling import TWO_ARMS, Told, told, tuned, url_in

SPREAD = "executor.exclusive_host=false"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return tuned(tmp_path_factory.mktemp("alone"), *SIX_ROUNDS)


def test_equal_boards_have_the_rounds_and_the_decision_of_one_also_where_a_worker_is_killed_or_an_arm_crashes_on_one(
    alone: Told, tmp_path: Path
) -> None:
    others = "gpu.simulated.boards=[{faults: [{kind: killed, process: 1}]}, {faults: [{kind: crash, backend: flashinfer}]}]"
    together = tuned(tmp_path, *SIX_ROUNDS, SPREAD, others)
    assert together.code == alone.code == 0 and "round 2 broke off, interrupted" in together.err
    assert "round 3 broke off on another board" in together.err
    assert times(together.run) == times(alone.run) and decided(together.run) == decided(alone.run)
    assert len(alone.run.boards) == 1 and len(together.run.boards) == 2  # done without the third
    assert together.pin.boards == together.run.boards and alone.pin.boards == alone.run.boards
    assert together.run.decision is not None
    assert "flashinfer/p1 failed on another board (crashed) and not on the run's own in 1 of 6 processes" in together.run.decision.cautions
    check_every_round_once(together.run)


def test_once_neighbours_were_found_harmless_other_boards_are_used_without_a_word(tmp_path: Path) -> None:
    """Of a slower board with another ratio: its spread is said."""
    other = "gpu.simulated.boards=[{common: 1.1, paces: [{backend: flashinfer, factor: 1.03}]}]"
    world = ("gpu.simulated.factor.flashinfer={decode: 1.0, prefill: 1.0}", other)
    found = told(tmp_path, "calibrate", "--neighbours", "--processes", "2", *TWO_ARMS, *world, f"store.url={url_in(tmp_path)}")
    assert found.code == 0 and "1 busy neighbour, 2 processes beside them: harmless" in found.out
    made = tuned(tmp_path, *world)
    assert "rounds are measured on 2 boards at once" in made.err and len(made.run.boards) == 2
    assert made.run.decision is not None and made.run.decision.spread is not None
    assert made.run.decision.spread.between_boards > 0.01 and "2 boards: " in made.out


def test_without_another_board_neighbours_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    found = told(tmp_path, "calibrate", "--neighbours", *TWO_ARMS, f"store.url={url_in(tmp_path)}")
    assert found.code == 2 and "--neighbours needs another GPU like this one" in found.err
    assert list_runs(open_store(url_in(tmp_path))) == ()
