"""Which boards may stand in one run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.store.building import environment
from tuner.rounds.board import unlike

HOME = environment()
OTHER = replace(HOME, board=replace(HOME.board, uuid="GPU-other"))


def test_boards_that_differ_in_nothing_but_their_uuid_are_alike() -> None:
    assert unlike(HOME, OTHER) is None


def test_the_same_board_is_no_other_one() -> None:
    assert unlike(HOME, HOME) == f"{HOME.board.name} is the board that the run has already"


@pytest.mark.parametrize(
    "change", [{"name": "NVIDIA H100"}, {"power_limit_w": 500.0}, {"mig": "3g.71gb"}, {"driver": "1.0"}, {"memory_bytes": 1}]
)
def test_another_board_is_told_by_what_sets_it_apart(change: dict[str, Any]) -> None:
    (name,) = change
    why = unlike(HOME, replace(OTHER, board=replace(OTHER.board, **change)))
    assert why is not None and why.split(": ", 1)[1].startswith(f"{name} is ")


def test_other_libraries_are_no_board_of_the_run() -> None:
    why = unlike(HOME, replace(OTHER, torch="0.0"))
    assert why is not None and "torch is '0.0' there" in why
