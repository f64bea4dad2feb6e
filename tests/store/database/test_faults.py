from __future__ import annotations

import errno
import os
import sqlite3
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from store.database.connect import Store, writing
from store.database.faults import database_sentences
from store.errors import AlreadyStored, DiskFault, DiskFull, ReadOnly, ServerGone, StoreError
from store.file_faults import file_fault
from store.runs.repository import begin_run
from tests.store.building import a_run


@pytest.mark.parametrize(
    ("number", "kind", "code"),
    [(errno.ENOSPC, DiskFull, 4), (errno.EDQUOT, DiskFull, 4), (errno.EROFS, ReadOnly, 2), (errno.EACCES, ReadOnly, 2)],
)
def test_a_fault_of_the_file_system_names_the_path_and_what_to_do(number: int, kind: type[StoreError], code: int) -> None:
    fault = file_fault("/pins/pin.yaml", OSError(number, os.strerror(number)))
    assert type(fault) is kind and fault.exit_code == code
    assert str(fault).startswith("/pins/pin.yaml ") and "; " in str(fault)


def test_any_other_fault_of_the_file_system_is_quoted() -> None:
    fault = file_fault("/pins/pin.yaml", OSError(errno.ENOTDIR, "Not a directory"))
    assert str(fault) == "/pins/pin.yaml cannot be written (Not a directory); choose another path"


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("SQLITE_FULL", DiskFull, "has no room left on its disk"),
        ("SQLITE_IOERR_SHMSIZE", DiskFull, "has no room left on its disk"),  # seen on a full file system, when a run begins or is read
        ("SQLITE_IOERR_READ", DiskFault, "could not be read or written; check its disk"),
    ],
)
def test_a_disk_that_is_full_is_told_from_one_that_is_broken(name: str, kind: type[StoreError], said: str) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name
    with pytest.raises(kind, match=f"store sqlite:///x.db {said}") as caught, database_sentences("sqlite:///x.db"):
        raise error
    assert type(caught.value) is kind and caught.value.exit_code == 4


def test_a_server_that_does_not_answer_is_quoted_in_one_line() -> None:
    class OperationalFault(Exception):
        pass

    OperationalFault.__name__ = "OperationalError"  # as every driver names it
    with pytest.raises(ServerGone) as caught, database_sentences("postgresql://h/d"):
        raise OperationalError("connect", {}, OperationalFault("connection refused\nIs the server running?"))
    said = "store postgresql://h/d cannot be used any more (connection refused); when its server is back, run the same command again"
    assert str(caught.value).startswith(said) and caught.value.exit_code == 4


def test_a_wrong_statement_of_ours_is_not_blamed_on_the_store(store: Store) -> None:
    with pytest.raises(DBAPIError, match='no such table: nowhere|relation "nowhere" does not exist'), writing(store) as session:
        session.execute(text("SELECT * FROM nowhere"))


def test_a_row_that_another_process_stored_first_is_said_so(store: Store) -> None:
    begin_run(store, a_run("r1"), fresh=True)
    with pytest.raises(AlreadyStored, match="another process stored the same rows first; run the same command again"):
        begin_run(store, replace(a_run("r1"), digest="another question"), fresh=True)


def test_a_row_without_what_it_belongs_to_is_a_fault_of_ours(store: Store) -> None:
    with pytest.raises(IntegrityError, match="FOREIGN KEY|foreign key"), writing(store) as session:
        session.execute(text("INSERT INTO attnpin_wall_seconds (run_key, phase, seconds) VALUES (99, 'timing', 1.0)"))
