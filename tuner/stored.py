"""Where a past run comes from: the database, or the evidence beside a pin."""

from __future__ import annotations

from pathlib import Path

from reports.wording import status
from store.connect import Store, file_of, open_store
from store.evidence import read_evidence
from store.history import RunSummary, list_runs
from store.pin_files import read_pin, verify_evidence
from store.repository import load_run, newest_run
from store.run import Run
from tuner.errors import UsageError


def run_from_pin(path: Path) -> Run:
    return read_evidence(verify_evidence(path, read_pin(path)))


def run_from_store(url: str, run_id: str | None) -> tuple[Run, str | None]:
    """The run of that id; without one the newest that was decided, and a sentence where a newer one was not."""
    store = existing(url)
    runs = list_runs(store)
    wanted = run_id or next((run.id for run in runs if run.ruling is not None), None)
    run = newest_run(store) if wanted is None else load_run(store, wanted)
    if run is None:
        raise UsageError(f"{store.url} holds no run yet; make one with `attnpin tune`, or name another database with store.url=URL")
    return run, None if run_id else _newer(run, runs[0])


def _newer(shown: Run, newest: RunSummary) -> str | None:
    if shown.id == newest.id:
        return None
    state = f"{status(newest.status)} and has no decision"
    return f"run {newest.id}, begun later, is {state}; `attnpin report --run {newest.id}` shows what it has so far"


def runs_in(url: str) -> tuple[RunSummary, ...]:
    """All runs of the store, newest first."""
    return list_runs(existing(url))


def existing(url: str) -> Store:
    """The store at ``url``. Looking never creates a database."""
    file = file_of(url)
    if file is not None and not file.exists():
        raise UsageError(f"There is no database {file}; make a run with `attnpin tune`, or name another one with store.url=URL")
    return open_store(url)
