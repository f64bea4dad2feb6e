from __future__ import annotations

from dataclasses import replace

from reports import boards
from store.decision import BoardSpread, OnBoard, Pair
from tests.reports.building import decision, run

FA3, MIXED = Pair("fa3/p1", "fa3/p1"), Pair("fa3/p1", "flashinfer/p1")
SPREAD = BoardSpread(MIXED, FA3, (OnBoard("GPU-a", 2, 0.9), OnBoard("GPU-b", 2, 0.936)), 0.028, 0.006, 0.0013)


def test_a_spread_says_the_ratio_on_each_board_and_the_three_levels_without_naming_a_board() -> None:
    said = boards.spread(SPREAD)
    assert said.startswith("2 boards: ") and "takes 0.900 and 0.936 times the attention time of" in said
    assert "2.8 % between boards, 0.60 % between processes of a board, 0.13 % within a process" in said and "GPU-" not in said


def test_of_one_process_on_each_board_no_scatter_of_processes_is_said() -> None:
    said = boards.spread(replace(SPREAD, between_processes=None))
    assert "standard deviation 2.8 % between boards of one process each, 0.13 % within a process" in said


def test_the_board_that_several_ranks_wait_for_is_told_by_its_number() -> None:
    assert boards.decides(SPREAD, 1) is None
    said = boards.decides(replace(SPREAD, decides="GPU-b"), 4)
    assert said is not None and said.startswith("decided by the slowest board, since 4 ranks wait") and said.endswith("board 2 of 2")


def test_a_run_on_several_boards_has_a_table_that_names_them() -> None:
    made = run(decision())
    assert boards.table(made) is None
    rounds = tuple(replace(measured, board=f"GPU-{'ab'[place % 2]}") for place, measured in enumerate(made.rounds))
    assert made.decision is not None
    found = boards.table(replace(made, rounds=rounds, decision=replace(made.decision, spread=SPREAD)))
    assert found is not None and [row[0] for row in found.rows] == ["GPU-a", "GPU-b"]
    assert [row[2] for row in found.rows] == ["0.900", "0.936"] and sum(int(row[1]) for row in found.rows) == len(rounds)
