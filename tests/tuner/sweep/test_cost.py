from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.database.connect import open_store
from store.runs.repository import begin_run, save_decision
from store.sweeps.sweep_cost import Ground
from tests.store.building import a_decision, a_run
from tuner.budgeting.estimate import run_seconds, timed_cells
from tuner.cli import run
from tuner.settings import Settings, compose
from tuner.sweep.cost import AROUND_S, ASKING_S, sweep_cost, walls
from tuner.sweep.looking import FEW, looking_s

BASE = ("gpu=h200", "model=qwen3_8b", "traffic=chat")


def keep(url: str, asked: Settings, run_id: str, seconds: float) -> float:
    """A finished run of what is asked, which took ``seconds`` and waited an hour before. Returns its roofline."""
    made = a_run(run_id)
    board = replace(made.environment, board=replace(made.environment.board, name=asked.scenario.gpu.name))
    made = replace(made, scenario=asked.scenario, environment=board, wall_seconds=(("waiting", 3600.0), ("timing", seconds)))
    store = open_store(url)
    save_decision(store, begin_run(store, made, fresh=True).id, a_decision(made), "finished")
    return run_seconds(made.scenario, made.arms, timed_cells(made.arms, made.cells, made.exclusions))


def test_without_stored_runs_a_scenario_costs_its_roofline_and_a_wrong_one_nothing(tmp_path: Path) -> None:
    cost = sweep_cost([f"store.url=sqlite:///{tmp_path}/none.db", *BASE[:2], "traffic=chat,nosuch"], None)
    good, bad = cost.costs
    assert (good.ground, bad.ground, bad.seconds) == (Ground.ROOFLINE, Ground.NOTHING, None)
    assert good.seconds == cost.board_seconds and "nosuch" in bad.why
    assert not (tmp_path / "none.db").exists()


def test_a_scenario_that_ran_before_takes_as_long_again_and_another_what_its_roofline_is_short_of(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    roofline_s = keep(url, compose([*BASE, f"store.url={url}"]), "r1", 600.0)
    bare = sweep_cost([*BASE[:2], "traffic=rag"], None).board_seconds
    same, other = sweep_cost([f"store.url={url}", *BASE[:2], "traffic=chat,rag"], None).costs
    around = AROUND_S + ASKING_S
    assert (same.ground, same.seconds) == (Ground.MEASURED, 600.0 + around)
    assert (other.ground, other.seconds) == (Ground.SCALED, pytest.approx(600.0 / roofline_s * (bare - around) + around))


def test_a_run_under_other_settings_says_how_the_roofline_falls_short_and_no_more(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    keep(url, compose([*BASE, "measure=gate"]), "r1", 600.0)
    (found,) = sweep_cost([f"store.url={url}", *BASE], None).costs
    assert found.ground is Ground.SCALED


@given(st.lists(st.floats(1, 1e5), max_size=40))
def test_more_boards_never_take_less_than_their_share_nor_more_than_that_and_one_scenario(seconds: list[float]) -> None:
    for boards, wall in walls(seconds):
        share, longest = sum(seconds) / boards, max(seconds, default=0.0)
        assert max(share, longest) <= wall * (1 + 1e-9) and wall <= (share + longest) * (1 + 1e-9)


def test_the_first_scenario_begins_once_all_were_looked_at() -> None:
    assert walls([8.0, 4.0], 3.0, [1, 2]) == ((1, 15.0), (2, 11.0))
    assert looking_s(FEW) > looking_s(1) > 0


def test_plan_says_what_a_file_of_scenarios_would_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fleet.yaml").write_text("- traffic=chat,rag\n- traffic=chat engine.tensor_parallel=2\n")
    asked = ["plan", f"scenarios={tmp_path}/fleet.yaml", *BASE[:2], f"store.url=sqlite:///{tmp_path}/none.db"]
    assert run(asked) == 0
    text = capsys.readouterr().out
    assert "3 scenarios: 3 roofline\n" in text and "on 1 board, " in text and "engine.tensor_parallel=2" in text
    assert run([*asked, "--tree"]) == 2
