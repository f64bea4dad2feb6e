"""Every test that takes `store` or `url` runs on both kinds of database; without a PostgreSQL server it is skipped on the second."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.database import sqlite_file
from store.database.connect import Store, open_store
from store.database.schema import VERSION_TABLE
from tests.light_sqlite import NOT_TO_DISK
from tests.store.server import Server, Unavailable, running

KINDS = ("sqlite", "postgresql")
NUMBERS = itertools.count()
# A tenth of the time of TRUNCATE, which makes the files of every table and index anew.
EMPTIED = f"""
DO $$ DECLARE name text; BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);  -- foreign keys: all of it goes
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '{VERSION_TABLE}' LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
END $$"""


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    try:
        with running() as found:
            yield found
    except Unavailable as reason:
        pytest.skip(f"no PostgreSQL server: {reason}")


@pytest.fixture(scope="session")
def shared(server: Server) -> Store:
    return open_store(server.url())


@pytest.fixture
def to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite as it is shipped: a commit is on the disk."""
    shipped = tuple(setting for setting in sqlite_file.CONNECTION_SETTINGS if setting != NOT_TO_DISK)
    monkeypatch.setattr(sqlite_file, "CONNECTION_SETTINGS", shipped)


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty one. That of a server is one for all tests, emptied after each: making the tables again would take ten times as long."""
    if request.param == "sqlite":
        yield open_store(f"sqlite:///{tmp_path}/attnpin.sqlite")
        return
    shared: Store = request.getfixturevalue("shared")
    yield shared
    request.getfixturevalue("server").execute(EMPTIED)


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a database of the test's own, in which nothing is yet."""
    return f"sqlite:///{tmp_path}/own.sqlite" if request.param == "sqlite" else str(request.getfixturevalue("server_url"))


@pytest.fixture
def server_url(server: Server) -> str:
    """As `url`, on the server."""
    name = f"own_{next(NUMBERS)}"
    server.execute(f"CREATE DATABASE {name}")
    return server.url(name)
