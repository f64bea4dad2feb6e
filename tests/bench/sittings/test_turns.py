from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bench.sittings import measure
from tests.bench.sittings.building import made_up
from tests.bench.sittings.cells import TURNS, slowed_cells
from tests.store.building import a_run

RUN = replace(a_run(cells=TURNS), created="2026-01-02T04:00:00Z")


def test_a_sitting_of_a_new_store_takes_the_turn_after_those_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier, later, other = made_up("r1"), replace(made_up("r3"), created="2026-01-02T05:00:00Z"), made_up("r2", slowed=(), slowed_on=())
    monkeypatch.setattr(measure, "read_rows", lambda: (earlier, other, later))
    assert measure.slowed_in_turn(RUN, before=2) == slowed_cells(RUN, 3) != slowed_cells(RUN, 2)


def test_every_cell_has_its_turn() -> None:
    turns = [slowed_cells(RUN, turn) for turn in range(TURNS)]
    assert frozenset().union(*turns) == {weighted.cell.name for weighted in RUN.cells} and sum(map(len, turns)) == len(RUN.cells)
