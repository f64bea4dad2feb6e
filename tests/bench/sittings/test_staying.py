from __future__ import annotations

from dataclasses import replace

from store.runs.run import Run
from tests.bench.sittings.building import CELLS, a_run, only_slowed_on
from tests.bench.sittings.staying import staying

ALL = frozenset(CELLS)


def run(processes: int, slowed_on: tuple[str, ...] = (), planted: dict[tuple[str, str], float] | None = None, sd: float = 0.0003) -> Run:
    slowed = (0.02, 0.05) if slowed_on else ()
    whole = only_slowed_on(slowed_on, a_run("r1", ("fa3",), planted or {}, slowed, 9, 1, 1.0, sd))
    return replace(whole, rounds=whole.rounds[:processes])


def test_all_cells_stay_until_the_first_look_and_then_those_that_are_slowed() -> None:
    assert staying(run(0, ("b",))) == staying(run(3, ("b",))) == ALL
    assert staying(run(4, ("b",))) == staying(run(8, ("b",))) == {"b"}


def test_a_calibration_without_slowed_cells_is_over_at_the_look_that_decides_the_last() -> None:
    assert staying(run(3)) == ALL and staying(run(4)) == frozenset()


def test_between_two_looks_nobody_leaves() -> None:
    noisy = [staying(run(processes, sd=0.006)) for processes in (4, 5, 6, 9)]
    assert noisy[0] == noisy[1] and noisy[0] >= noisy[2] >= noisy[3] and noisy[0]


def test_a_cell_that_seems_to_have_changed_stays_while_that_is_not_sure() -> None:
    assert staying(run(4, planted={("fa3/p1#2", "c"): 1.021})) == {"c"}
