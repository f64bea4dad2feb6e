from __future__ import annotations

import json

from reports import run_list
from store.past.history import RunSummary


def test_runs_stand_one_a_line_in_the_order_given() -> None:
    newest = RunSummary("7f3a9c", "2026-11-30T02:08:00Z", "finished", "qwen3_8b", "chat", "sglang", "0.5.16", "NVIDIA H200", 4, "switch")
    oldest = RunSummary("1b2c3d", "2026-11-29T02:08:00Z", "running", "tiny", "chat", "sglang", None, "Xeon", 0, None)
    header, first, second = run_list.render([newest, oldest]).splitlines()
    assert header.split() == ["run", "created", "status", "model", "traffic", "board", "engine", "rounds", "ruling", "or", "side"]
    assert first.split()[0] == "7f3a9c" and "SGLang 0.5.16" in first and first.endswith("switch")
    assert "SGLang, not found" in second and "None" not in second
    assert "  unfinished  " in second and "running" not in second
    assert [run["status"] for run in json.loads(run_list.render_json([newest, oldest]))] == ["finished", "unfinished"]


def test_an_empty_database_says_what_fills_it() -> None:
    assert run_list.render([]) == "no run in this database; `attnpin tune` makes one\n"
