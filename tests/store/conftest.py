"""Every test that takes `store` or `url` runs on both kinds of database; without a PostgreSQL server it is skipped on the second."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect

from store.database.connect import Store, open_store
from store.database.schema import VERSION_TABLE
from tests.store.server import Server, Unavailable, running

KINDS = ("sqlite", "postgresql")
NUMBERS = itertools.count()


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


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty one. That of a server is one for all tests, emptied after each: making the tables again would take ten times as long."""
    if request.param == "sqlite":
        yield open_store(f"sqlite:///{tmp_path}/attnpin.sqlite")
        return
    shared: Store = request.getfixturevalue("shared")
    yield shared
    tables = ", ".join(set(inspect(shared.engine).get_table_names()) - {VERSION_TABLE})
    request.getfixturevalue("server").execute(f"TRUNCATE {tables} RESTART IDENTITY CASCADE")


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
