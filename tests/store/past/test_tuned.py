from __future__ import annotations

from dataclasses import replace

from store.database.connect import Store
from store.past.tuned import tuned_runs
from store.runs.repository import begin_run, save_decision
from tests.store.building import a_decision, a_run

H200 = "NVIDIA H200"


def test_the_newest_finished_tunes_of_a_board_are_found_by_what_they_were_asked(store: Store) -> None:
    for name in ("r1", "r2", "r3"):
        made = begin_run(store, a_run(name), fresh=True)
        save_decision(store, made.id, a_decision(made), "finished")
    begin_run(store, a_run("open"), fresh=True)
    audit = begin_run(store, replace(a_run("audit"), command="attnpin audit"), fresh=True)
    save_decision(store, audit.id, a_decision(audit), "finished")
    assert [run.id for run in tuned_runs(store, H200, 2)] == ["r3", "r2"]
    assert [run.id for run in tuned_runs(store, H200, 9, "qwen3_8b", "chat")] == ["r3", "r2", "r1"]
    assert tuned_runs(store, H200, 9, "qwen3_8b", "rag") == tuned_runs(store, "NVIDIA L4", 9) == ()
    assert tuned_runs(store, H200, 1)[0].arms == a_run().arms
