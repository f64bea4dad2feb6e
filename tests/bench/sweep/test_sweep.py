from __future__ import annotations

import json
from pathlib import Path

import pytest

from backends.wire import to_plain
from store.database.connect import open_store
from store.runs.repository import begin_run, save_decision
from store.sweeps.sweep import Ending, Entry, Sweep, write_sweep
from store.sweeps.sweep_cost import Cost, Ground, SweepCost
from tests.bench.sweep.asked import overrides, pilot
from tests.bench.sweep.came import came_of
from tests.bench.sweep.measure import FORETOLD, STORE, WALL
from tests.bench.sweep.page import render
from tests.store.building import a_decision, a_run
from tuner.sweep.looking import looking_s
from tuner.sweep.wishes import wishes


def test_as_many_scenarios_as_asked_for_and_none_of_the_pilot_s_among_them() -> None:
    asked = wishes(overrides(1000))
    assert len(asked) == len(set(asked)) == 1000 and not set(asked) & set(wishes(pilot()))


def test_what_came_is_held_against_what_was_foretold_of_the_scenarios_that_ended(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/{STORE}")
    entries = []
    for name, took_s in (("a", 12.0), ("b", 8.0), ("c", None)):
        if took_s is not None:
            run = a_run(name)
            save_decision(store, begin_run(store, run, fresh=True).id, a_decision(run), "finished")
        ending = Ending(0, "", name, pin="pin.yaml") if took_s is not None else None
        entries.append(Entry((f"traffic={name}",), ending, took_s))
    for folder, some in (("all", entries), ("pilot", entries[:1])):
        (tmp_path / folder).mkdir()
        write_sweep(tmp_path / folder, Sweep("attnpin tune", "2026-01-02", tuple(some)))
    costs = tuple(Cost(entry.overrides, 10.0, Ground.SCALED, "") for entry in entries)
    foretell(tmp_path, SweepCost(costs, ()))
    (tmp_path / WALL).write_text('{"sweep": "pilot", "seconds": 9.0}\n' + 2 * '{"sweep": "all", "seconds": 7.0}\n')
    row = came_of(tmp_path)
    assert (row.scenarios, row.ended, row.failed, row.pilot, row.runs) == (3, 2, 0, 1, 2)
    assert (row.foretold_board_s, row.board_s, row.wall_s, row.look_s) == (20.0, 20.0, 14.0, 2.0)
    assert row.foretold_wall_s == 10.0 + looking_s(3)
    text = render((row,))
    assert "## 2 of 3 scenarios on 2 boards" in text and "| GPU time | 20.0 s | 20.0 s | 1.000 |" in text


def foretell(folder: Path, cost: SweepCost) -> None:
    told = {"boards": 2, "cost": {**to_plain(cost), "board_seconds": cost.board_seconds}}
    (folder / FORETOLD).write_text(json.dumps(told))


def test_where_nothing_has_ended_nothing_is_said(tmp_path: Path) -> None:
    foretell(tmp_path, SweepCost((), ()))
    with pytest.raises(LookupError, match="holds no sweep"):
        came_of(tmp_path)
