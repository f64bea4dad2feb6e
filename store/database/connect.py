"""Opening the store: SQLite in a file by default, PostgreSQL by its URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from store.database import postgresql, sqlite_file
from store.database.faults import database_sentences
from store.database.interrupts import held_back
from store.database.passwords import without_password
from store.database.schema import SCHEMA, bring_up_to_date, refuse_newer, stored_version
from store.database.transactions import WRITES
from store.digest import canonical
from store.errors import NotADatabase, OlderSchema, ServerGone, Unreachable


@dataclass(frozen=True)
class Store:
    """A handle; holds no open connection between calls, so it may be kept, shared between threads and forked.

    ``url`` is printable (password hidden), ``notes`` are sentences about how it was opened that the user should see.
    """

    engine: Engine
    url: str
    notes: tuple[str, ...] = ()


def open_store(url: str) -> Store:
    """The store at ``url`` ("sqlite:///path", "postgresql+psycopg://..."), created or upgraded where needed.

    Raises `StoreError`: a path or server out of reach, not a database, read-only, a full disk, a newer schema.
    """
    parsed = _parsed(url)
    name = _shown(parsed)
    engine = _engine(parsed, name)
    with held_back(), _first_asked(name):
        notes = sqlite_file.prepare(engine) if engine.dialect.name == "sqlite" else ()
        bring_up_to_date(writer(engine), name)
    return Store(engine, name, notes)


@contextmanager
def left_alone(url: str) -> Iterator[Store]:
    """The store at ``url`` for reading, which stays as it is: a SQLite file is read in a copy of this moment, a server's database where it
    is. Raises `StoreError`: as `open_store`, for one that holds nothing of ours, and for a server's that has an older schema."""
    parsed = _parsed(url)
    name, file = _shown(parsed), file_of(url)
    engine = _engine(parsed, name)
    with _first_asked(name), engine.connect() as connection:
        version = stored_version(connection)
    if version is None:
        raise NotADatabase(f"store {name} holds nothing of attnpin's; name another one")
    refuse_newer(version, name)  # before a copy of it would be named
    if file is not None:
        with TemporaryDirectory(prefix="attnpin-") as folder:
            copy = Path(folder) / "store.db"
            with database_sentences(name):
                sqlite_file.copy(file, copy)
            yield replace(open_store(f"sqlite:///{copy}"), url=name)
    elif version < SCHEMA:
        raise OlderSchema(
            f"store {name} has schema {version}, not {SCHEMA}, and is to stay as it is; export it to a file with the attnpin that wrote it"
        )
    else:
        yield open_store(url)


def _shown(url: URL) -> str:
    return without_password(url.render_as_string(hide_password=True))


def _of_no_known_kind(url: URL) -> Unreachable:
    name = _shown(url)
    return Unreachable(
        f"store {name}: no database of the kind {url.drivername!r} is known; write sqlite:///PATH or postgresql+psycopg://..."
    )


@contextmanager
def _first_asked(name: str) -> Iterator[None]:
    """A server that does not answer now may never have been there."""
    try:
        with database_sentences(name):
            yield
    except ServerGone as error:
        raise Unreachable(f"store {name} cannot be used ({error.why}); check store.url") from error
    except DBAPIError as error:
        if error.statement is not None:
            raise
        why = str(error.orig).splitlines()[0]  # a parameter that libpq does not know
        raise Unreachable(f"store {name} cannot be used ({why}); check store.url") from error


def writer(engine: Engine) -> Engine:
    """The same engine; its transactions take the write lock when they begin (SQLite) instead of at their first write."""
    return engine.execution_options(**{WRITES: True})


@contextmanager
def reading(store: Store) -> Iterator[Session]:
    """A session that sees one state of the store throughout."""
    with held_back(), database_sentences(store.url), Session(store.engine) as session, session.begin():
        yield session


@contextmanager
def writing(store: Store) -> Iterator[Session]:
    """A session whose changes are all stored when the block ends, or none. Writers wait for one another (`store.database.postgresql`: where
    they would meet)."""
    with held_back(), database_sentences(store.url), Session(writer(store.engine)) as session, session.begin():
        yield session


def file_of(url: str) -> Path | None:
    """The SQLite file at ``url``; None for a database of another kind. Raises `Unreachable` as `open_store` does."""
    parsed = _parsed(url)
    return sqlite_file.file_of(parsed) if parsed.get_backend_name() == "sqlite" else None


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the latter: a port that is no number
        meant = "sqlite:///PATH or postgresql+psycopg://..." if "://" in url else f"sqlite:///{url}"
        raise Unreachable(f"store.url={without_password(url)!r} is not a database URL; write {meant}") from None
    if parsed.get_backend_name() != "sqlite":
        if (found := postgresql.with_driver(parsed)).get_backend_name() != postgresql.NAME:
            raise _of_no_known_kind(found)
        return found
    if parsed.database in (None, "", ":memory:"):
        raise Unreachable(f"store.url={url!r} names no file and would be lost; write sqlite:///PATH")
    return sqlite_file.with_home(parsed)


def _engine(url: URL, name: str) -> Engine:
    try:
        engine = create_engine(url, poolclass=NullPool, json_serializer=canonical, connect_args=postgresql.parameters(url))
    except NoSuchModuleError:
        raise _of_no_known_kind(url) from None
    except ModuleNotFoundError as error:
        way = "pip install 'attnpin[postgres]'" if error.name == "psycopg" else "install it"
        raise Unreachable(f"store {name} needs the Python package {error.name!r}; {way} or write sqlite:///PATH") from None
    if engine.dialect.name == "sqlite":
        sqlite_file.refuse_irregular(url)
        sqlite_file.make_folder(url)
        sqlite_file.listen(engine)
    elif engine.dialect.name == postgresql.NAME:
        postgresql.listen(engine)
    return engine
