"""Where a past run comes from: the database, or the evidence beside a pin."""

from __future__ import annotations

from pathlib import Path

from store.connect import Store, open_store
from store.evidence import read_evidence
from store.history import RunSummary, list_runs
from store.pin_files import read_pin, verify_evidence
from store.repository import load_run, newest_run
from store.run import Run
from tuner.errors import UsageError

SQLITE = "sqlite:///"


def run_from_pin(path: Path) -> Run:
    return read_evidence(verify_evidence(path, read_pin(path)))


def run_from_store(url: str, run_id: str | None) -> Run:
    """The run of that id, or the newest."""
    store = _existing(url)
    run = newest_run(store) if run_id is None else load_run(store, run_id)
    if run is None:
        raise UsageError(f"{store.url} holds no run yet; make one with `attnpin tune`, or name another database with store.url=URL")
    return run


def runs_in(url: str) -> tuple[RunSummary, ...]:
    """All runs of the store, newest first."""
    return list_runs(_existing(url))


def _existing(url: str) -> Store:
    """The store at ``url``. Looking never creates a database."""
    if url.startswith(SQLITE) and not _file_of(url).exists():
        raise UsageError(f"There is no database {_file_of(url)}; make a run with `attnpin tune`, or name another one with store.url=URL")
    return open_store(url)


def _file_of(url: str) -> Path:
    return Path(url.removeprefix(SQLITE).partition("?")[0]).expanduser()
