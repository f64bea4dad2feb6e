"""What is SQLite's own: settings of every connection, when its transactions begin, and the journal its file system allows."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, event

from store.database.transactions import writes
from store.file_faults import file_fault
from store.files import destination

BUSY_TIMEOUT_MS = 30_000

# synchronous=FULL: with WAL's NORMAL a power cut may take back commits that were acknowledged. A round is minutes of GPU
# time and is stored once a process, so one more fsync costs nothing.
CONNECTION_SETTINGS = (f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}", "PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL")

# WAL needs memory that all processes share, which no network file system gives across hosts (sqlite.org/wal.html).
NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "9p", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "afs", "fuse.sshfs")


def with_home(url: URL) -> URL:
    database = url.database or ""
    return url.set(database=str(Path(database).expanduser())) if database.startswith("~") else url


def file_of(url: URL) -> Path:
    """The database file; SQLite's own "file:PATH" form is understood."""
    return Path((url.database or "").removeprefix("file:"))


def refuse_irregular(url: URL) -> None:
    """Raises `StoreError` where the database, or a file that SQLite keeps beside it, is a device, a pipe, a folder."""
    file = destination(file_of(url), f"store {file_of(url)}")
    for suffix in ("-journal", "-wal", "-shm"):
        beside = file.with_name(file.name + suffix)
        destination(beside, f"store {file}: {beside.name} beside it")


def make_folder(url: URL) -> None:
    folder = file_of(url).absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_fault(f"store folder {folder}", error) from error


def listen(engine: Engine) -> None:
    """Take the beginning of transactions out of the driver's hands: it would begin them late and as readers, and two
    readers that both turn writer cannot wait for one another."""

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for setting in CONNECTION_SETTINGS:
            connection.execute(setting)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes(connection) else "BEGIN")


def copy(file: Path, to: Path) -> None:
    """One state of ``file``, what its write-ahead log holds included, whoever else uses it."""
    with closing(sqlite3.connect(file.absolute().as_uri() + "?mode=rw", uri=True)) as theirs, closing(sqlite3.connect(to)) as ours:
        theirs.backup(ours)


def prepare(engine: Engine) -> tuple[str, ...]:
    """Choose the journal. Returns a note where it is not WAL: then readers and a writer wait for one another."""
    path = file_of(engine.url)
    system = file_system_of(path)
    if is_network(system):
        wanted, why = "delete", f"{system} is a network file system"
    else:
        wanted, why = "wal", "its file or file system does not allow it"
    connection = engine.raw_connection()
    try:
        mode = _set_journal(connection.driver_connection, wanted)
    finally:
        connection.close()
    return () if mode == "wal" else (f"store {path} is kept without a write-ahead log (journal mode {mode}): {why}",)


def is_network(file_system: str | None) -> bool:
    return file_system is not None and file_system.startswith(NETWORK_FILE_SYSTEMS)


def file_system_of(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str | None:
    """The type of the file system that ``path`` lies on, as Linux names it; None where that cannot be read."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    points = {Path(fields[1].replace("\\040", " ")): fields[2] for fields in map(str.split, lines) if len(fields) > 2}
    return next((points[folder] for folder in path.absolute().parents if folder in points), None)


def _set_journal(connection: Any, wanted: str) -> str:
    """The mode in force afterwards: SQLite keeps the old one where the file system refuses, a read-only file too."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        current = _pragma(connection, "PRAGMA journal_mode")
        if current == wanted:
            return current
        try:
            return _pragma(connection, f"PRAGMA journal_mode={wanted}")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname.startswith("SQLITE_READONLY"):
                return current
            # A change of mode does not wait for other connections by itself.
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _pragma(connection: Any, statement: str) -> str:
    return str(connection.execute(statement).fetchone()[0])
