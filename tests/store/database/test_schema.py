from __future__ import annotations

import multiprocessing
import runpy
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

import store.database
from store.database.connect import Store, open_store, reading, writer
from store.database.schema import SCHEMA, VERSION_TABLE, bring_up_to_date, is_ours, stored_version
from store.decision import Ruling
from store.engines.serving_terms import ServingTerms
from store.errors import NewerSchema
from store.runs.repository import add_trials, begin_run, load_run
from store.tables import calibrations, measured, origins, rests, side_by_sides  # noqa: F401  their tables register themselves
from store.tables.base import Base
from tests.store.building import a_run, a_trial

DATA = Path(__file__).parents[1] / "data"
MIGRATIONS = Path(store.database.__file__).parent / "migrations"

AFTER = f"{int(SCHEMA) + 1:04}"
NEXT = """
from alembic import op
import sqlalchemy as sa
revision, down_revision = "{after}", "{before}"
def upgrade():
    op.add_column("attnpin_runs", sa.Column("note", sa.Text, server_default="carried over"))
    op.execute("{statement}")
"""


def scripts_with_a_next_version(folder: Path, statement: str) -> str:
    shutil.copytree(MIGRATIONS, folder / "migrations")
    (folder / f"migrations/versions/v{AFTER}_next.py").write_text(NEXT.format(after=AFTER, before=SCHEMA, statement=statement))
    return str(folder / "migrations")


def test_the_migrations_lead_to_the_models(store: Store) -> None:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert stored_version(connection) == SCHEMA


def test_the_version_in_the_code_is_that_of_the_newest_migration() -> None:
    newest = max((MIGRATIONS / "versions").glob("v*.py"))
    assert runpy.run_path(str(newest))["revision"] == SCHEMA


def test_a_database_of_the_first_schema_still_opens(tmp_path: Path) -> None:
    shutil.copy(DATA / "schema_0001.sqlite", tmp_path / "old.sqlite")
    opened = open_store(f"sqlite:///{tmp_path}/old.sqlite")
    run = load_run(opened, "first")
    assert (run.status, run.engine_version, run.wall_seconds) == ("finished", "0.5.16", (("timing", 30.5),))
    assert [arm.name for arm in run.arms] == ["fa3/p1", "flashinfer/p1"]
    assert [exclusion.backend for exclusion in run.exclusions] == ["trtllm_mha", "flashmla"]
    assert [trial.cost.device_us for trial in run.trials if trial.cost] == [119.66] * 4
    visit = run.rounds[0].cells[1].visits[3]
    assert (visit.block, visit.position, visit.arm) == (1, 1, "flashinfer/p1")
    assert (len(visit.sample_us), visit.sample_us[0]) == (8, 109.71272436659994)
    assert run.decision is not None and run.decision.ruling is Ruling.SWITCH
    assert run.notes == ("decode-128 was dropped: the pool is too small",)
    assert run.left_out == () and {trial.kernel_files for trial in run.trials} == {None}


def test_what_early_runs_did_not_measure_is_none_and_can_be_added(tmp_path: Path) -> None:
    shutil.copy(DATA / "schema_0001.sqlite", tmp_path / "old.sqlite")
    opened = open_store(f"sqlite:///{tmp_path}/old.sqlite")
    run = load_run(opened, "first")
    early = [(trial.rms_error, trial.workspace_bytes, trial.graph_bytes, trial.open_s, trial.first_call_s) for trial in run.trials]
    assert set(early) == {(None,) * 5} and run.terms == ()
    assert {cell.first_call_s for each in run.rounds for cell in each.cells} == {()}
    costs: dict[str, Any] = {"rms_error": 2e-4, "workspace_bytes": 384 << 20, "graph_bytes": 2**33, "open_s": 0.8, "first_call_s": 16.25}
    later = begin_run(opened, replace(a_run("second"), terms=(ServingTerms("fa3/p1", 524290, 0.0, ("multi_item_scoring",)),)), fresh=True)
    trial = replace(a_trial(later, 0, 0), **costs)
    add_trials(opened, "second", [trial])
    assert load_run(opened, "second") == replace(later, trials=(trial,))


def test_an_older_schema_is_upgraded_and_keeps_its_rows(tmp_path: Path, url: str) -> None:
    store = open_store(url)
    begin_run(store, a_run(), fresh=False)
    scripts = scripts_with_a_next_version(tmp_path, "UPDATE attnpin_runs SET traffic = 'seen'")
    bring_up_to_date(writer(store.engine), store.url, AFTER, scripts)
    with reading(store) as session:
        assert session.execute(text("SELECT id, note, traffic FROM attnpin_runs")).all() == [("r1", "carried over", "seen")]
        assert stored_version(session.connection()) == AFTER


def test_an_upgrade_that_fails_half_way_changes_nothing(tmp_path: Path, url: str) -> None:
    store = open_store(url)
    run = begin_run(store, a_run(), fresh=False)
    scripts = scripts_with_a_next_version(tmp_path, "UPDATE nowhere SET x = 1")
    with pytest.raises(DBAPIError, match='no such table: nowhere|relation "nowhere" does not exist'):
        bring_up_to_date(writer(store.engine), store.url, AFTER, scripts)
    with reading(store) as session:
        assert stored_version(session.connection()) == SCHEMA
        assert "note" not in {column["name"] for column in inspect(session.connection()).get_columns("attnpin_runs")}
    assert load_run(store, run.id) == run


def test_a_newer_schema_is_refused_with_both_versions_and_left_alone(url: str) -> None:
    with open_store(url).engine.execution_options(attnpin_writes=True).begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(NewerSchema) as caught:
        open_store(url)
    assert str(caught.value).endswith(
        f"has schema 9999 and this attnpin knows schemas up to {SCHEMA}; install a newer attnpin or set store.url to another store"
    )
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("optuna_first", [True, False])
def test_optuna_and_attnpin_share_a_database(url: str, optuna_first: bool) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if not optuna_first:
        open_store(url)
    study = optuna.create_study(storage=url, study_name="knobs")
    run = begin_run(open_store(url), a_run(), fresh=False)
    study.optimize(lambda trial: trial.suggest_int("page", 1, 4), n_trials=2)
    assert len(optuna.load_study(storage=url, study_name="knobs").trials) == 2
    opened = open_store(url)
    assert load_run(opened, run.id) == run
    with opened.engine.connect() as connection:
        ours = {name for name in inspect(connection).get_table_names() if is_ours(name)}
    assert ours == set(Base.metadata.tables) | {VERSION_TABLE}


def test_many_that_open_a_new_store_at_once_make_its_schema_once(url: str) -> None:
    fork = multiprocessing.get_context("fork")
    openers = [fork.Process(target=open_store, args=(url,)) for _ in range(6)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    assert [opener.exitcode for opener in openers] == [0] * 6
