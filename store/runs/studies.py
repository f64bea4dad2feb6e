"""Optuna's studies in the database of the runs: its own tables beside ours, which know nothing of one another.

A study belongs to one run, whose id it is given once that is begun; one without a run was interrupted, and goes on.
"""

from __future__ import annotations

import logging
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.pool import NullPool

from store.database import postgresql
from store.database.connect import Store
from store.database.faults import database_sentences
from store.database.outlasting import outlasts_a_restart
from store.database.postgresql_faults import postgresql_fault
from store.database.sqlite_file import BUSY_TIMEOUT_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optuna import Study
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

RUN = "attnpin run"
THERE = ("42P07", "42710")  # PostgreSQL's codes of a table and a type that are there already
MAKING_S, LOOK_EVERY_S = 30.0, 0.05


@contextmanager
def studies_of(store: Store) -> Iterator[Studies]:
    """Raises `StoreError`, inside too."""
    import optuna

    optuna.logging.set_verbosity(logging.WARNING)
    with warnings.catch_warnings(), _sentences(store.url):
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        storage = _storage(store.engine.url)
        if store.engine.dialect.name == "sqlite":
            _without_waiting_for_the_disk(storage.engine)
        else:
            _waiting_for_the_server(storage.engine, store)
        try:
            yield Studies(storage)
        finally:
            storage.remove_session()
            storage.engine.dispose()


@contextmanager
def _sentences(url: str) -> Iterator[None]:
    """Optuna wraps most of what the driver raises, and has other words for it."""
    from optuna.exceptions import StorageInternalError

    with database_sentences(url):
        try:
            yield
        except StorageInternalError as error:
            raise (error.__cause__ or error) from None


def _storage(url: URL) -> Any:
    """Of several that make Optuna's tables at once one does; the others fail at it, and find them when they look again."""
    from optuna.storages import RDBStorage

    deadline, asked = time.monotonic() + MAKING_S, url.render_as_string(hide_password=False)
    template = asked.replace("{", "{{").replace("}", "}}")  # Optuna formats it
    while True:
        try:
            return RDBStorage(template, _of_connections(url))
        except DBAPIError as error:
            if not _made_meanwhile(error) or time.monotonic() > deadline:
                raise
        time.sleep(LOOK_EVERY_S)


def _of_connections(url: URL) -> dict[str, Any]:
    """They wait as long for one another as ours do; none to a server is kept, which may be restarted."""
    if url.get_backend_name() == "sqlite":
        return {"connect_args": {"timeout": BUSY_TIMEOUT_MS / 1000}}
    return {"connect_args": postgresql.parameters(url), "poolclass": NullPool}


def _made_meanwhile(error: DBAPIError) -> bool:
    return isinstance(error, IntegrityError) or getattr(error.orig, "sqlstate", None) in THERE or "already exists" in str(error.orig)


def _without_waiting_for_the_disk(engine: Engine) -> None:
    """Each repetition is a transaction or two: one that a power failure takes is measured again."""
    engine.dispose()

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")


def _waiting_for_the_server(engine: Engine, store: Store) -> None:
    """While it is restarted between two transactions. One that it goes away in ends the search, which goes on when it is begun again."""

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, _record: Any, arguments: Any, words: Any) -> Any:
        return _connected(store, dialect, arguments, words)


@outlasts_a_restart
def _connected(store: Store, dialect: Any, arguments: Any, words: Any) -> Any:
    try:
        return dialect.connect(*arguments, **words)
    except dialect.loaded_dbapi.Error as error:
        raise (postgresql_fault(store.url, error) or error) from None


class Studies:
    """Of one store, while it is open."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def open(self, name: str, fresh: bool, sampler: BaseSampler, pruner: BasePruner) -> Study:
        """The newest of ``name`` that no run was begun with, else (or when ``fresh``) a new one."""
        import optuna

        names = [each for each in optuna.get_all_study_names(self._storage) if each.rpartition("/")[0] == name]
        newest = max(names, key=lambda each: int(each.rpartition("/")[2]), default=None)
        if newest is not None and not fresh:
            study = optuna.load_study(study_name=newest, storage=self._storage, sampler=sampler, pruner=pruner)
            if RUN not in study.user_attrs:
                return study
        return optuna.create_study(storage=self._storage, study_name=f"{name}/{len(names) + 1}", sampler=sampler, pruner=pruner)


def belongs_to(study: Study, run_id: str) -> None:
    study.set_user_attr(RUN, run_id)
