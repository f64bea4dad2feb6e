"""Writes schema_NNNN.sqlite beside this file with the code as it is: once when a schema is released, never again after.

python -m tests.store.data.make_schema_file
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from store.database.connect import open_store
from store.database.schema import SCHEMA
from store.runs.repository import begin_run
from store.runs.run import Run
from tests.store.building import a_decision, a_round, a_run, all_trials


def a_whole_run() -> Run:
    run = a_run("first")
    measured = {"trials": all_trials(run), "rounds": (a_round(run, 0),), "wall_seconds": (("timing", 30.5),)}
    return replace(run, **measured, decision=a_decision(run), status="finished")


if __name__ == "__main__":
    begin_run(open_store(f"sqlite:///{Path(__file__).parent}/schema_{SCHEMA}.sqlite"), a_whole_run(), fresh=True)
