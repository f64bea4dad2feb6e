"""What a database driver raises, in one sentence of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError

from store.database.postgresql_faults import postgresql_fault
from store.errors import (
    AlreadyStored,
    DiskFault,
    DiskFull,
    Locked,
    NotADatabase,
    ReadOnly,
    StoreError,
    Unreachable,
)

# By the start of SQLite's own result-code names (sqlite.org/rescode.html).
SQLITE_FAULTS: dict[str, tuple[type[StoreError], str]] = {
    "SQLITE_FULL": (DiskFull, "has no room left on its disk; free some and run the same command again, it continues where it was"),
    "SQLITE_READONLY": (ReadOnly, "cannot be written; make it writable or set store.url to a path that is"),
    "SQLITE_PERM": (ReadOnly, "cannot be written; make it writable or set store.url to a path that is"),
    "SQLITE_CANTOPEN": (Unreachable, "cannot be opened; check that the path is a file in a writable folder, or set store.url to another"),
    "SQLITE_NOTADB": (NotADatabase, "is not a SQLite database; set store.url to another path"),
    "SQLITE_CORRUPT": (NotADatabase, "is damaged; restore a copy, or set store.url to another path"),
    "SQLITE_BUSY": (Locked, "is held by another process for too long; end that one or set store.url to another path"),
    "SQLITE_LOCKED": (Locked, "is held by another process for too long; end that one or set store.url to another path"),
    # The file that processes share cannot be made, for readers neither: by the same page a sign that the volume is out of space.
    "SQLITE_IOERR_SHMSIZE": (DiskFull, "has no room left on its disk; free some and run the same command again, it continues where it was"),
    "SQLITE_IOERR": (DiskFault, "could not be read or written; check its disk, then run the same command again"),
}


@contextmanager
def database_sentences(url: str) -> Iterator[None]:
    """Inside, what the database driver raises comes out as a `StoreError` that names ``url``."""
    try:
        yield
    except IntegrityError as error:
        if "unique" not in str(error.orig).lower():
            raise  # a fault of ours, not of two writers
        raise AlreadyStored(f"store {url}: another process stored the same rows first; run the same command again") from error
    except (DBAPIError, sqlite3.Error) as error:
        fault = _database_fault(url, getattr(error, "orig", None) or error)
        if fault is None:
            raise
        raise fault from error


def _database_fault(url: str, error: BaseException) -> StoreError | None:
    """None = a fault of ours (a wrong statement), not of the place."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorname", "")
        return next((kind(f"store {url} {text}") for prefix, (kind, text) in SQLITE_FAULTS.items() if code.startswith(prefix)), None)
    return postgresql_fault(url, error) if isinstance(error, Exception) else None
