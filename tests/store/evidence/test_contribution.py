"""Boards in what is made for others."""

from __future__ import annotations

from dataclasses import replace

from backends.wire import to_plain
from store.decision import BoardSpread, OnBoard, Pair
from store.digest import canonical
from store.evidence.contribution import contribution, leaks
from tests.reports.building import decision, run

PAIR = Pair("fa3/p1", "fa3/p1")


def test_every_board_of_a_run_has_a_pseudonym_the_same_wherever_it_stands() -> None:
    made = run(decision())
    assert made.decision is not None
    spread = BoardSpread(PAIR, PAIR, (OnBoard("GPU-one", 1, 1.0), OnBoard("GPU-two", 1, 1.0)), 0.0, 0.0, 0.0, "GPU-two")
    rounds = tuple(replace(measured, board=board) for measured, board in zip(made.rounds, ("GPU-one", "GPU-two")))
    found = contribution(replace(made, rounds=rounds, decision=replace(made.decision, spread=spread)))
    assert found.decision is not None and found.decision.spread is not None
    assert [measured.board for measured in found.rounds] == [each.board for each in found.decision.spread.boards] == list(found.boards)
    assert found.decision.spread.decides == found.boards[1] and len(set(found.boards)) == 2
    assert "GPU-one" not in canonical(to_plain(found)) and "GPU-two" not in canonical(to_plain(found))
    assert leaks(replace(found, rounds=rounds), replace(made, rounds=rounds))
