"""A PostgreSQL server of the tests' own: of the system where pg_ctl is on the path, else of the package pgserver."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

OWNER = "attnpin"
READY_S = 20.0
PR_SET_PDEATHSIG = 1
SETTINGS = ("listen_addresses=", "shared_buffers=16MB", "max_wal_size=64MB")
# Nothing of it outlives the tests, so nothing need reach the disk; of its crashes it recovers all the same.
LIGHT = ("fsync=off", "autovacuum=off")


class Unavailable(Exception):
    """Why there is no server, in words."""


class Server:
    """Serves on a socket in ``folder``, as another account where this one is root, whom PostgreSQL refuses."""

    def __init__(self, programs: Path, folder: Path, settings: tuple[str, ...]) -> None:
        self._programs = programs
        self._settings = settings
        self._folder = folder
        self._account: dict[str, Any] = _account() if os.geteuid() == 0 else {}
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        if self._account:
            os.chown(self._folder, self._account["user"], self._account["group"])
        words = (str(self._programs / "initdb"), "-D", self._data, "--no-sync", "-A", "trust", "-U", OWNER, "--locale=C", "-E", "UTF8")
        done = subprocess.run(words, capture_output=True, text=True, cwd="/", **self._account)
        if done.returncode != 0:
            raise Unavailable(f"initdb failed: {done.stderr.strip().splitlines()[-1:]}")

    def start(self) -> None:
        settings = [word for setting in self._settings for word in ("-c", setting)]
        words = (str(self._programs / "postgres"), "-D", self._data, "-k", str(self._folder), *settings)
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log, cwd="/", preexec_fn=_end_with_the_tests, **self._account)
        self._wait()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends it in order; SIGQUIT at once, as a crash would."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(READY_S)

    def url(self, database: str = "postgres", role: str = OWNER) -> str:
        return f"postgresql+psycopg://{role}@/{database}?host={self._folder}"

    def execute(self, *statements: str, database: str = "postgres") -> None:
        engine = create_engine(self.url(database), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            for statement in statements:
                connection.execute(text(statement))

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _wait(self) -> None:
        deadline = time.monotonic() + READY_S
        while True:
            try:
                return self.execute("SELECT 1")
            except OperationalError:
                if time.monotonic() > deadline:
                    raise Unavailable((self._folder / "log").read_text()) from None
                time.sleep(0.02)


@contextmanager
def running(fsync: bool = False) -> Iterator[Server]:
    """Raises `Unavailable`."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="attnpin-pg-"))
    server = Server(programs, folder, SETTINGS if fsync else SETTINGS + LIGHT)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    if importlib.util.find_spec("psycopg") is None:
        raise Unavailable("the package psycopg is not installed (the extra postgres)")
    found = shutil.which("pg_ctl")
    if found is not None:
        return Path(found).resolve().parent
    spec = importlib.util.find_spec("pgserver")
    if spec is None or spec.origin is None:
        raise Unavailable("neither is pg_ctl on the path nor the package pgserver installed")
    return Path(spec.origin).parent / "pginstall" / "bin"


def _account() -> dict[str, Any]:
    found = pwd.getpwnam("nobody")
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}


def _end_with_the_tests() -> None:
    """However they end: a server left behind would hold memory and a folder for good."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
