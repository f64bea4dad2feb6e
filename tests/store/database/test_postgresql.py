"""What is PostgreSQL's own: a server that goes away, roles, what its codes mean, how its URL is read. Longer than others, since the server
has to start, and crashes three times."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import create_engine, func, make_url, select, text
from sqlalchemy.pool import NullPool

from store.database import outlasting, postgresql
from store.database.connect import Store, open_store, reading, writing
from store.database.postgresql_faults import postgresql_fault
from store.errors import DiskFull, Locked, ReadOnly, ServerGone, StoreError, Unreachable
from store.runs.repository import add_round, add_trials, begin_run, load_run, save_decision
from store.runs.run import Run
from store.tables.measured import RoundRow, TrialRow, VisitRow
from store.tables.runs import DecisionRow
from tests.store.building import a_decision, a_round, a_run, all_trials
from tests.store.conftest import NUMBERS
from tests.store.runs.test_round_trip import runs
from tests.store.server import Server
from tests.store.writers import FORK, check_written, write_rounds

WRITERS, ROUNDS = 4, 12


@pytest.fixture
def own(server: Server, shared: Store) -> Store:
    """A database with nothing in its tables."""
    name = f"copy_{next(NUMBERS)}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {shared.engine.url.database}")
    return open_store(server.url(name))


def test_a_server_that_crashes_while_several_write_costs_no_round_and_doubles_none(server: Server, server_url: str) -> None:
    names = [f"writer-{i}" for i in range(WRITERS)]
    store = open_store(server_url)
    writers = [FORK.Process(target=write_rounds, args=(server_url, name, ROUNDS)) for name in names]
    for writer in writers:
        writer.start()
    for stored in (WRITERS * 2, WRITERS * 5, WRITERS * 8):
        while count(store, RoundRow) < stored:
            assert any(writer.is_alive() for writer in writers)
            writers[0].join(0.05)  # each look is a connection, which the server answers with a process
        server.stop(signal.SIGQUIT)
        server.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    for name in names:
        check_written(store, name, ROUNDS)
    run = a_run()
    rounds, cells, arms = WRITERS * ROUNDS, len(run.cells), len(run.arms)
    assert (count(store, RoundRow), count(store, VisitRow)) == (rounds, rounds * cells * arms * 2)
    assert count(store, TrialRow) == WRITERS * cells * arms


def count(store: Store, rows: type[RoundRow] | type[TrialRow] | type[VisitRow] | type[DecisionRow]) -> int:
    with reading(store) as session:
        return session.scalar(select(func.count(rows.key))) or 0


@pytest.mark.parametrize("kind", ["begun", "begun afresh", "trials", "round", "decision"])
def test_what_was_stored_and_not_confirmed_is_stored_once(own: Store, kind: str) -> None:
    run = begin_run(own, a_run("before"), fresh=False)
    calls = {
        "begun": lambda: begin_run(own, a_run("again"), fresh=False),
        "begun afresh": lambda: begin_run(own, a_run("again"), fresh=True),
        "trials": lambda: add_trials(own, run.id, all_trials(run)),
        "round": lambda: add_round(own, run.id, a_round(run, 0)),
        "decision": lambda: save_decision(own, run.id, a_decision(run), "finished"),
    }
    once = calls[kind]()
    before = [load_run(own, name) for name in ids(own)]
    assert calls[kind]() == once
    assert [load_run(own, name) for name in ids(own)] == before and count(own, DecisionRow) == (kind == "decision")


def ids(store: Store) -> list[str]:
    with reading(store) as session:
        return list(session.scalars(text("SELECT id FROM attnpin_runs ORDER BY key")))


def test_a_server_that_stays_away_is_waited_for_and_then_said_to_be_gone(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = itertools.count(0, outlasting.PATIENCE_S / 4)
    slept: list[float] = []
    monkeypatch.setattr(outlasting.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(outlasting.time, "sleep", slept.append)
    gone = elsewhere(own)
    with pytest.raises(ServerGone, match="when its server is back, run the same command again, it continues where it was") as caught:
        load_run(gone, "r1")
    assert caught.value.exit_code == 4 and slept == [outlasting.FIRST_PAUSE_S, 2 * outlasting.FIRST_PAUSE_S, 4 * outlasting.FIRST_PAUSE_S]


def elsewhere(store: Store) -> Store:
    url = store.engine.url.update_query_dict({"host": "/nowhere"})
    return Store(create_engine(url, poolclass=NullPool), store.url)


def test_a_server_that_was_never_there_is_not_waited_for() -> None:
    with pytest.raises(
        Unreachable, match=r"store postgresql\+psycopg://u:\*\*\*@/d\?host=%2Fnowhere cannot be used \(.*\); check store.url"
    ):
        open_store("postgresql://u:secret@/d?host=/nowhere")


@pytest.mark.parametrize("parameter", ["nosuch=1", "connect_timeout=soon"])
def test_a_parameter_that_is_none_of_libpq_s_is_named(server_url: str, parameter: str) -> None:
    with pytest.raises(Unreachable, match=rf"cannot be used \(.*{parameter.partition('=')[0]}.*\); check store.url"):
        open_store(f"{server_url}&{parameter}")


def test_a_writer_that_waits_too_long_for_another_says_so(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin_run(own, a_run(), fresh=False)
    monkeypatch.setattr(postgresql, "WRITER", postgresql.WRITER.replace(f"{postgresql.LOCK_TIMEOUT_S}s", "20ms"))
    with writing(own) as session:
        session.execute(text("SELECT key FROM attnpin_runs FOR NO KEY UPDATE"))
        with pytest.raises(Locked, match="is held by another process for too long"):
            add_round(own, run.id, a_round(run, 0))
    add_round(own, run.id, a_round(run, 0))


def test_writers_to_different_runs_do_not_wait_for_one_another(own: Store) -> None:
    one, other = (begin_run(own, a_run(name), fresh=True) for name in ("one", "other"))
    with writing(own) as session:
        session.execute(text("SELECT key FROM attnpin_runs WHERE id = 'one' FOR NO KEY UPDATE"))
        add_round(own, other.id, a_round(other, 0))
        assert load_run(own, one.id) == one
    assert load_run(own, other.id).rounds == (a_round(other, 0),)


def test_a_reader_sees_one_state_throughout(own: Store) -> None:
    run = begin_run(own, a_run(), fresh=False)
    with reading(own) as session:
        before = session.scalar(select(func.count(RoundRow.key)))
        add_round(own, run.id, a_round(run, 0))
        assert session.scalar(select(func.count(RoundRow.key))) == before == 0


@pytest.fixture
def roles(server: Server, own: Store) -> Iterator[tuple[Store, Store]]:
    """A writer and a reader, with no more than docs/a-shared-database.md gives them."""
    database = str(own.engine.url.database)
    server.execute("CREATE ROLE measures LOGIN", "CREATE ROLE reads LOGIN")
    server.execute(
        "GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO measures",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO measures",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reads",
        database=database,
    )
    yield open_store(server.url(database, "measures")), open_store(server.url(database, "reads"))
    server.execute("DROP OWNED BY measures, reads", database=database)
    server.execute("DROP ROLE measures", "DROP ROLE reads")


def test_a_writer_needs_no_more_than_to_add_and_change_rows_and_a_reader_to_read_them(roles: tuple[Store, Store]) -> None:
    writer, reader = roles
    run = begin_run(writer, a_run(), fresh=False)
    add_trials(writer, run.id, all_trials(run))
    add_round(writer, run.id, a_round(run, 0))
    save_decision(writer, run.id, a_decision(run), "finished")
    assert load_run(reader, run.id).rounds == (a_round(run, 0),)
    with pytest.raises(ReadOnly, match="may not be used so by this role; docs/a-shared-database.md says what a role needs") as caught:
        begin_run(reader, a_run("r2"), fresh=True)
    assert caught.value.exit_code == 2
    with pytest.raises(ReadOnly), writing(writer) as session:
        session.execute(text("DELETE FROM attnpin_visits"))


def test_tables_may_lie_in_a_schema_of_their_own(server: Server, own: Store) -> None:
    database = str(own.engine.url.database)
    server.execute("CREATE SCHEMA pins", database=database)
    there = open_store(f"{server.url(database)}&options=-csearch_path%3Dpins")
    run = begin_run(there, a_run(), fresh=False)
    assert load_run(there, run.id) == run and ids(own) == []


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=runs())
def test_any_run_comes_back_from_a_server_as_it_was(server: Server, own: Store, run: Run) -> None:
    server.execute("TRUNCATE attnpin_runs CASCADE", database=str(own.engine.url.database))
    begin_run(own, run, fresh=True)
    assert load_run(own, run.id) == run


class Reported(Exception):
    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("what the server said\nand more")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("code", "kind", "exit_code"),
    [
        *[("53100", DiskFull, 4), ("42501", ReadOnly, 2), ("25006", ReadOnly, 2), ("28P01", Unreachable, 2), ("3D000", Unreachable, 2)],
        *[("57P01", ServerGone, 4), ("57P03", ServerGone, 4), ("08006", ServerGone, 4), ("53300", ServerGone, 4), ("40P01", ServerGone, 4)],
    ],
)
def test_what_a_server_reports_is_told_apart_by_its_code(code: str, kind: type[StoreError], exit_code: int) -> None:
    fault = postgresql_fault("URL", Reported(code))
    assert fault is not None
    assert (type(fault), fault.exit_code, "(what the server said)" in str(fault), "\n" in str(fault)) == (kind, exit_code, True, False)


@pytest.mark.parametrize("code", ["42P01", "22001", None])
def test_a_statement_of_ours_that_is_wrong_is_no_fault_of_the_server(code: str | None) -> None:
    assert postgresql_fault("URL", Reported(code)) is None


def test_what_the_url_says_of_a_connection_comes_first() -> None:
    url = postgresql.with_driver(make_url("postgres://h/d?connect_timeout=3"))
    assert url.drivername == "postgresql+psycopg"
    found = postgresql.parameters(url)
    assert "connect_timeout" not in found and found["keepalives_idle"] == postgresql.PARAMETERS["keepalives_idle"]
    assert postgresql.parameters(make_url("postgresql+asyncpg://h/d")) == {}
